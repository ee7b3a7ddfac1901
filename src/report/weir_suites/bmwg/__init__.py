"""The field's tests by their names: what the IETF's draft on AI training fabrics asks for, as campaigns, and its
report."""
