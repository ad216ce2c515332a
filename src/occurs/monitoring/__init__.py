"""Numbers, health and readiness of `occurs follow` and `occurs watch`, and how they are published."""
