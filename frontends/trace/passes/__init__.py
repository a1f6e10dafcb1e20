"""What may be changed in a trace: one module for each kind of thing."""
