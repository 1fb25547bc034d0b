"""Which addresses may be fetched from: none that means this machine, or a network that it stands in. Pure."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_NAT64_LOCAL = ipaddress.ip_network("64:ff9b:1::/48")
_SIX_TO_FOUR = ipaddress.ip_network("2002::/16")
_TEREDO = ipaddress.ip_network("2001::/32")
_COMPATIBLE = ipaddress.ip_network("::/96")
_GLOBAL_UNICAST = ipaddress.ip_network("2000::/3")
_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "3fff::/20")))
"""Set aside for protocols, relays and documentation, and yet global to the standard library."""


def is_public(address: str) -> bool:
    """Whether an IP address belongs to the public internet, what is wrapped into an IPv6 address included."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    return all(_is_global(one) for one in (found, *_wrapped(found)))


def _is_global(address: IPv4Address | IPv6Address) -> bool:
    is_unicast = address.version == 4 or address in _GLOBAL_UNICAST
    return (
        is_unicast
        and not any(address in network for network in _SPECIAL)
        and address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not address.is_loopback
        and not address.is_link_local
        and not address.is_private
    )


def _wrapped(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, IPv4Address):
        return []
    number = int(address)
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    if address in _NAT64 or address in _NAT64_LOCAL or address in _COMPATIBLE:
        return [IPv4Address(number & 0xFFFFFFFF)]
    if address in _SIX_TO_FOUR:
        return [IPv4Address((number >> 80) & 0xFFFFFFFF)]
    if address in _TEREDO:
        return [IPv4Address((number & 0xFFFFFFFF) ^ 0xFFFFFFFF), IPv4Address((number >> 64) & 0xFFFFFFFF)]
    return []
