"""What Claude asks a person: questions, permissions, plans, forms. One file a kind, and a registry over them.

`registry.dialog_for` makes the dialog for a pending request, `base.RequestDialog` is what every one of them is.
"""
