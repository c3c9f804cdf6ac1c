"""The public questions, one module each: arguments are checked, the method is chosen, a result comes back."""
