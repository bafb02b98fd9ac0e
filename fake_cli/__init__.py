"""A stand-in for `claude`: an independent second reading of the control protocol, driven by scenario files."""
