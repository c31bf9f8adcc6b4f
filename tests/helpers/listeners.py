"""A callback that takes notes: scikit-learn's below, a plain function where there is none."""


class Listener:
    """Keeps the model after every added centre, and lets ``react(model)`` end the fit."""

    def __init__(self, react=lambda model: False):
        self.react = react
        self.models = []
        self.final = None
        self.n_teardowns = 0

    def __call__(self, model, n_done, n_tasks):
        self.models.append(model)
        return self.react(model)

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "fit":
            self.final = fitted_estimator
        if context.task_name in ("fit", "refinement step"):
            return False
        return self(fitted_estimator, len(self.models) + 1, context.parent.max_subtasks)

    def teardown(self, estimator, context):
        self.n_teardowns += 1


class Interrupter:
    """Raises KeyboardInterrupt from the given report of a task on, as a limit of time does."""

    def __init__(self, first):
        self.first, self.n_reports = first, 0

    def __call__(self, model=None, n_done=0, n_tasks=0):
        self.n_reports += 1
        if self.n_reports >= self.first:
            raise KeyboardInterrupt
        return False

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        return self()

    def teardown(self, estimator, context):
        pass


def stop_at(size):
    """A reaction that ends the fit at a size."""
    return lambda model: model.n_basis_ == size


def interrupt_at(size):
    """A reaction that is Ctrl-C at a size."""

    def react(model):
        if model.n_basis_ == size:
            raise KeyboardInterrupt

    return react
