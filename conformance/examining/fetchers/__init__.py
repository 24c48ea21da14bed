"""How are fetches counted, held and read on a cluster of three brokers with three fetchers to every leader?"""
