"""What holdfast counts about itself, and how others read it."""
