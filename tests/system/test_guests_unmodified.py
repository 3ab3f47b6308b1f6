# SPDX-License-Identifier: GPL-2.0-only
"""Systems that nobody has changed for Vellum: each comes as far under it as natively, and says
the same on the way but for what is allowed to differ."""

import re
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

import debian_guests
import grub_disk
from debian_archive import ArchiveError
from vellum import (BUILD, IMAGE, INITRD, ROOT, VELLUM_BIN, VMI_KERNEL, Machine, Module,
                    emulator_for, record)
from emulator import End, Limits, run

SECONDS = 900  # of a run; a busy computer takes its time
MODES = {"native": "mode=native", "hv": "mode=hv vmi=off"}
LINUX = "console=ttyS0 nokaslr norandmaps no_timer_check tsc=reliable vellum.run=none panic=-1"

# Neither emulator gives two different runs the same times: Vellum's instructions count as well.
TIMES = (r"MHz|BogoMIPS|clocksource|calibrat|PM-Timer|sched_clock|rtc_cmos|audit: type=2000|usecs"
         r"|deferred pages|hrtimer|RTC time|loops_per_jiffy|took too long|took \d+|stall|watchdog")
# What CPUID says of the processor: a hypervisor is there, so Linux trusts its TSC deadline timer
# and distrusts its performance counters, and PEBS is hidden (docs/exit-policy.md). It loads no
# microcode then, and takes a processor for vulnerable that it may be moved to.
CPUID = (r"TSC[_ ]deadline|TSC_DEADLINE|\.\.TIMER: vector|Performance Events|perfctr msr"
         r"|microcode: |ITS: |its_return_thunk")
ORDER = r"input: AT Translated|initrd memory|random: "  # of threads that say it at any time


@dataclass(frozen=True)
class System:
    """An unmodified guest, and how its boot log is read."""

    name: str
    reaches: tuple[str, ...]         # texts that its console has to show
    words: str = ""                  # of the kernel's command line
    kernel: str | None = None        # of debian_guests; None: none
    modules: tuple[Module, ...] = ()
    until: str | None = None         # the text that ends the run; None: it ends by itself
    may_differ: str = TIMES          # lines that match are not compared
    vellum: str = ""                 # more words for Vellum
    memory: int = 256
    says: tuple[str, ...] = ()       # patterns that Vellum's console has to show
    disk: bool = False
    firmware: str = "bios"
    extra: tuple[str, ...] = ()      # QEMU's own words
    icount: bool = True              # on QEMU: a busy host spoils no calibration, but it's slower
    cpus: tuple[str, ...] = ("amd",)


UP = ("vellum-guest: up", "vellum-guest: done")


# Xen says what the processor can do for hypervisors, what it does against the processor's leaks
# (of which it believes less where it is a guest itself), and gives dom0 what memory is left.
XEN = (r"HVM|SVM|Nested Page|Virtual GIF|VMX|\(XEN\)  - |Xen settings|PV VMs|GDS|Dom0 alloc"
       r"|Phys-Mach map")


def xen(name, vellum, says, cpus=("amd",)):
    return System(name, ("Xen version 4.17", "-e820 RAM map", "about to get started"),
                  "xen com1=115200 console=com1 loglvl=all noreboot smap=0", "xen",
                  (Module("linux-amd64", "console=hvc0"), Module(INITRD)), memory=512,
                  until="about to get started", vellum=vellum, says=(says,), cpus=cpus,
                  may_differ=f"{TIMES}|{CPUID}|{XEN}")


SYSTEMS = (
    System("linux-amd64", UP + ("Power down",), LINUX, "linux-amd64", (Module(INITRD),),
           may_differ=f"{TIMES}|{ORDER}|{CPUID}", memory=512, says=("boot protocol 2.15",),
           cpus=("amd", "intel")),
    System("linux-686-pae", UP + ("Power down",), LINUX, "linux-686-pae", (Module(INITRD),),
           may_differ=f"{TIMES}|{ORDER}|{CPUID}", memory=512, says=("boot protocol 2.15",),
           cpus=("amd", "intel")),
    # What firmware offers beside memory: SMBIOS, runtime services, a framebuffer.
    System("linux-amd64-uefi", UP + ("Power down", "efi: EFI v2", "DMI: QEMU Standard PC",
                                     "Registered efivars operations", "x86/PAT: Configuration",
                                     "efifb: mode is 1280x800x32", "fb0: EFI VGA frame buffer"),
           LINUX, "linux-amd64", (Module(INITRD),), may_differ=f"{TIMES}|{ORDER}", memory=512,
           firmware="uefi", extra=("-device", "VGA"), says=("booted by UEFI firmware",)),
    System("gnumach", ("GNU Mach 1.8", "No bootstrap code loaded"), "console=com0", "gnumach",
           until="No bootstrap code loaded", says=("Multiboot 1, 2 segments",),
           cpus=("amd", "intel")),
    xen("xen", "", "Multiboot 2, 1 segments", ("amd", "intel")),
    xen("xen-multiboot1", "guest=multiboot", "Multiboot 1, 1 segments"),
    System("memtest86+", ("Memtest86+ v6", "walking ones"), "console=ttyS0", "memtest86+",
           until="walking ones", may_differ=".*", memory=64, icount=False, says=("boot protocol 2.12",),
           cpus=("amd", "intel")),
    System("grub-disk", UP, vellum="guest=disk", disk=True, says=("disk 80h, by the BIOS",),
           may_differ=f"{TIMES}|{ORDER}|{CPUID}", cpus=("amd", "intel")),
)
CASES = [pytest.param(system, cpu, id=f"{system.name}-{cpu}")
         for system in SYSTEMS for cpu in system.cpus]


def kernel_of(name):
    try:
        return debian_guests.find_or_fetch(name)
    except ArchiveError as error:
        pytest.skip(str(error))


def modules_of(system):
    """The kernel and its modules; a module that is named as a kernel is that kernel."""
    if system.kernel is None:
        return []
    others = [Module(kernel_of(module.path), module.words)
              if module.path in debian_guests.PACKAGES else module for module in system.modules]
    return [Module(kernel_of(system.kernel), system.words), *others]


def disk_of(system, folder):
    if not system.disk:
        return None
    disk = folder / "disk.img"
    grub_disk.write_disk(disk, VMI_KERNEL, INITRD, LINUX)
    return disk


def archive_of(system, folder):
    """UEFI's loaders give one file to vellum.bin: the kernel, its initrd and words in one."""
    kernel, initrd = modules_of(system)
    pack = folder / "guest.cpio"
    subprocess.run([ROOT / "boot" / "images", "pack", pack, "--build", BUILD, "--kernel", kernel.path,
                    "--initrd", initrd.path, "--append", kernel.words], check=True)
    return pack


def boot_files(system, folder):
    """The machine's firmware, Vellum's image, and what that finds."""
    if system.firmware == "uefi":
        return {"firmware": "uefi", "image": VELLUM_BIN,
                "modules": [Module(archive_of(system, folder))]}
    return {"image": IMAGE, "modules": modules_of(system), "disk": disk_of(system, folder)}


def start(system, cpu, mode, files):
    machine = Machine(cpu=cpu, append=f"{MODES[mode]} {system.vellum}", memory=system.memory,
                      icount=system.icount and cpu == "amd", extra=list(system.extra), **files)
    return run(emulator_for(machine), machine, BUILD / "logs", f"unmodified-{system.name}-{mode}-{cpu}",
               Limits(seconds=SECONDS, marker=system.until))


def boot_log(system, result):
    """The console's lines without times and escape sequences, up to the text that ends the run."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", result.com1)
    text = text.partition(system.until)[0] if system.until else text
    lines = [re.sub(r"^\[ *\d+\.\d+\] ", "", line) for line in re.split(r"[\r\n]+", text)]
    return [line for line in lines if line.strip()]


def difference(native, virtualized):
    """Lines that one of the two has more often; their order is the threads' own."""
    native, virtualized = Counter(native), Counter(virtualized)
    return ([f"- {line}" for line in (native - virtualized).elements()]
            + [f"+ {line}" for line in (virtualized - native).elements()])


def report(system, cpu, found, allowed, capsys):
    """The whole difference is beside the logs; its size is printed though the test passes."""
    path = BUILD / "logs" / f"unmodified-{system.name}-{cpu}.diff"
    path.write_text("\n".join([f"- natively, + under Vellum; behind them what may differ: "
                               f"/{system.may_differ}/", *found, "", *allowed, ""]))
    with capsys.disabled():
        print(f"\n{system.name} on {cpu}: {len(found)} lines differ, and {len(allowed)} that may: "
              f"{path.relative_to(ROOT)}", *found, sep="\n")


@pytest.mark.parametrize("system, cpu", CASES)
def test_it_comes_as_far_as_natively(system, cpu, tmp_path, capsys):
    files = boot_files(system, tmp_path)
    with ThreadPoolExecutor(len(MODES)) as pool:
        runs = dict(zip(MODES, pool.map(lambda mode: start(system, cpu, mode, files), MODES)))
    for mode, result in runs.items():
        assert result.finished, f"{mode}: {result.end}\n{result.com1[-2000:]}\n{result.com2[-2000:]}"
        assert result.end is (End.MARKER if system.until else End.EXIT)
        for text in system.reaches:
            assert text in result.com1, f"{mode}: no '{text}'\n{result.com1[-3000:]}"
        for pattern in system.says:
            assert re.search(pattern, result.com2), f"{mode}: no /{pattern}/\n{result.com2}"
        assert record(result.com2, "boot")["mode"] == mode
    differing = difference(*(boot_log(system, runs[mode]) for mode in MODES))
    allowed = [line for line in differing if re.search(system.may_differ, line[2:])]
    found = [line for line in differing if line not in allowed]
    report(system, cpu, found, allowed, capsys)
    assert not found, "\n".join(found)


def test_the_kept_memory_is_absent_from_what_a_disk_guest_asks_the_bios(tmp_path):
    """GRUB takes the map from INT 15h E820h, and Linux from GRUB."""
    system = next(system for system in SYSTEMS if system.disk)
    result = start(system, "amd", "hv", boot_files(system, tmp_path))
    keeping = re.search(r"keeping (\d+) MiB at ([0-9a-f]+)", result.com2)
    base, size = int(keeping[2], 16), int(keeping[1]) << 20
    assert re.search(rf"BIOS-e820: \[mem {base:#018x}-{base + size - 1:#018x}\] reserved", result.com1)
