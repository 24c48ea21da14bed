"""How are brokers crashed, elected and registered again where a setting or a feature is examined?"""
