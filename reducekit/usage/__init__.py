"""What people type and read at a command line, as plain data: habits, settings, the manual."""
