"""The commands: ``doctor``, ``outbox`` and ``openapi`` by themselves, others through a running sidecar as a client."""
