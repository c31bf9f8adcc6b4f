"""What the command line is made of: tables, preprocessing, workflow, commands."""
