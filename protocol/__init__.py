"""The control protocol of the `claude` CLI, and everything else that speaks a wire. Imports no Qt."""
