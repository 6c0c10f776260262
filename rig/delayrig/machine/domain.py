# SPDX-License-Identifier: GPL-2.0-or-later
"""The hardware of plain QEMU as a libvirt domain. A test compares the two.

What libvirt cannot express (icount, fw_cfg, the pause, the snapshot) goes into
`<qemu:commandline>`, from the same functions as plain QEMU's command line.
"""

from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET
from xml.etree.ElementTree import Element, SubElement

from delayrig.base.private_net import words_into
from delayrig.machine import arguments
from delayrig.machine.arguments import Hardware
from delayrig.machine.embedded_libvirt import NETWORK

QEMU_NAMESPACE = "http://libvirt.org/schemas/domain/qemu/1.0"


def domain_xml(
    hardware: Hardware, *, name: str, emulator: str, cpu: int, library_path: str = ""
) -> str:
    """Returns the domain's XML. In virtual time QEMU runs only on the host CPU `cpu`."""
    ET.register_namespace("qemu", QEMU_NAMESPACE)
    platform, domain = hardware.shape.platform, Element("domain", {"type": "qemu"})
    _text(domain, "name", name)
    # A guest that boots in virtual time reads the UUID, so it is always the same. Other UUIDs only
    # have to be unique for libvirt.
    is_free = hardware.incoming is not None or hardware.real is not None
    _text(domain, "uuid", str(uuid5(NAMESPACE_URL, name)) if is_free else arguments.UUID)
    _text(domain, "memory", str(arguments.RAM_MIB), unit="MiB")
    where = {} if hardware.real is not None else {"cpuset": str(cpu)}
    _text(domain, "vcpu", str(hardware.shape.cores), placement="static", **where)
    system = SubElement(domain, "os")
    _text(system, "type", "hvm", arch=platform.libvirt_arch, machine=platform.machine)
    _text(system, "loader", platform.firmware, type="rom")
    _text(system, "kernel", str(hardware.kernel))
    _text(system, "initrd", str(hardware.initrd))
    _text(system, "cmdline", arguments.kernel_command_line(hardware.shape))
    features = SubElement(domain, "features")
    SubElement(features, "acpi")
    SubElement(features, "vmport", {"state": "off"})
    processor = SubElement(domain, "cpu", {"mode": "custom", "match": "exact", "check": "none"})
    _text(processor, "model", platform.cpu_model, fallback="forbid")
    for feature in arguments.cpu_features(hardware.shape):
        SubElement(processor, "feature", {"policy": "force", "name": feature})
    clock = SubElement(domain, "clock", {"offset": "utc"})
    hpet = "yes" if arguments.has_hpet(hardware.shape) else "no"
    SubElement(clock, "timer", {"name": arguments.HPET, "present": hpet})
    _text(domain, "on_crash", "preserve")
    _devices(domain, hardware, emulator)
    _word_for_word(domain, hardware, library_path)
    return ET.tostring(domain, encoding="unicode")


def _devices(domain: Element, hardware: Hardware, emulator: str) -> None:
    devices = SubElement(domain, "devices")
    _text(devices, "emulator", emulator)
    SubElement(devices, "controller", {"type": "usb", "model": "none"})
    SubElement(devices, "memballoon", {"model": "none"})
    serial = SubElement(devices, "serial", {"type": "file"})
    SubElement(serial, "source", {"path": str(hardware.console)})
    SubElement(serial, "target", {"port": "0"})


def _word_for_word(domain: Element, hardware: Hardware, library_path: str) -> None:
    line = SubElement(domain, f"{{{QEMU_NAMESPACE}}}commandline")
    for word in (*arguments.clock_arguments(hardware), *arguments.hand_over_arguments(hardware)):
        SubElement(line, f"{{{QEMU_NAMESPACE}}}arg", {"value": word})
    if hardware.real is None:
        variables = arguments.preloading(hardware.preload, library_path)
    else:
        net = hardware.real.net
        variables = {NETWORK: " ".join(words_into(net))} if net else {}
    for key, value in variables.items():
        SubElement(line, f"{{{QEMU_NAMESPACE}}}env", {"name": key, "value": value})


def _text(parent: Element, tag: str, text: str, **attributes: str) -> Element:
    element = SubElement(parent, tag, attributes)
    element.text = text
    return element
