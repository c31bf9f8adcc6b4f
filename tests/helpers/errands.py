"""Work for other processes, which can import this module but not the tests'."""


def count(path, number):
    """Leave a mark that the work was done, and return two lines."""
    with path.open("a") as file:
        file.write(f"{number}\n")
    return [{"half": number}, {"whole": number}]
