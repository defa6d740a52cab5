"""Model services: one HTTP client, a request builder and a decoder for each wire format, and what is known of
services and models: addresses, keys, prices, limits. `contract` says what a provider promises.
"""
