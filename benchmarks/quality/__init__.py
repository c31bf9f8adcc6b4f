"""AUC of models beside those of peers."""
