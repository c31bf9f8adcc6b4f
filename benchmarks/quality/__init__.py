"""AUC of our models and of peers."""
