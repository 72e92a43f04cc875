"""Op families of control flow, function calls, tensor lists, optionals, and ops about the process itself."""
