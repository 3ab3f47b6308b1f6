# SPDX-License-Identifier: GPL-2.0-only
"""The bare guests: where and how each is started, and what Vellum's console must show."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Place:
    """A processor and, where it matters, the emulator that has to provide it."""

    name: str
    cpu: str                 # the vendor
    emulator: str = "auto"   # EMU= chooses where this says "auto"


AMD = Place("amd", "amd")                  # QEMU
INTEL = Place("intel", "intel")            # Bochs
RYZEN = Place("ryzen", "amd", "bochs")     # a second opinion on AMD-V
BOTH = (AMD, INTEL)
ALL = (AMD, INTEL, RYZEN)


@dataclass(frozen=True)
class Run:
    """One boot of a guest, and what is expected of it beside its own verdict."""

    name: str
    words: str = "mode=hv vmi=off"  # Vellum's command line
    told: str = ""                  # the guest's
    why: str | None = "reset"       # Vellum's last record; None: there is no record
    console: tuple[str, ...] = ()   # regular expressions that COM2 must match
    once: tuple[str, ...] = ()      # texts that COM2 shows once, not more: no flood
    exits: dict[str, int] = field(default_factory=dict)  # exact numbers by reason
    calls: dict[str, int] = field(default_factory=dict)  # exact numbers by VMI call
    stays: bool = False             # the machine stops without an end: so does the test
    icount: bool = False            # time by instructions: a busy host holds nothing up
    extra: tuple[str, ...] = ()     # the emulator's own words
    cpus: int = 1                   # processors of the machine
    not_on: dict[str, str] = field(default_factory=dict)  # "qemu", "bochs amd", a place: why not
    on: tuple[Place, ...] | None = None  # None: where the guest runs


@dataclass(frozen=True)
class Guest:
    """A guest and its runs."""

    name: str
    runs: tuple[Run, ...]
    same: bool = False  # it says lines "SAME ...": those of all runs are the native one's
    on: tuple[Place, ...] = BOTH
    modules: tuple[str, ...] = ()  # words of more modules, each of which is the guest again
    disk: str | None = None  # it is on this disk of the guest folder, no module

    def runs_on(self, place: Place) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if place in (run.on or self.on))


HV = Run("hv")
HV2 = Run("hv", cpus=2)
SHADOW = Run("shadow", words="mode=hv vmi=off paging=shadow", on=(AMD,))
SHADOW_INTEL = replace(SHADOW, on=(INTEL,))
SHADOWS = replace(SHADOW, on=BOTH)  # where VT-x has code of its own: a run on Bochs takes seconds
OLD_CPU = Run("no-npt", extra=("-cpu", "qemu64,+svm"), console=("has no nested paging",
                                                                 '"paging":"shadow"'), on=(AMD,))
NATIVE = Run("native", words="mode=native", told="native", why=None)
NATIVE2 = replace(NATIVE, cpus=2)

ENDLESS_DB = {"qemu": "QEMU itself aborts (iothread lock) when a push of an interrupt hits a data "
                      "breakpoint, natively as well"}
BOCHS_STEP = {"bochs amd": "Bochs lets the trap of a step over what exits come after the exit"}
BOCHS_V86 = {"bochs amd": "Bochs aborts at an exit of AMD-V's from virtual-8086 mode"}
BOCHS_DR6 = {"bochs amd": "DR6 is not set yet there at a #DB that exits"}
NO_Q35 = {"bochs": "a chipset of QEMU's"}
NO_X2APIC = {"qemu": "QEMU 7.2's own processors have no x2APIC"}
TCG_INIT = {"qemu": "QEMU resets the processor at an INIT that is intercepted"}


def power(how, why):
    """A run of ports_power: the way to end the machine, and what Vellum calls it."""
    return Run(how, told=how, why=why, exits={"triple_fault": 0})


def triple_fault(onfault, stays):
    """A run of triple_fault: the registers are those that the guest has set."""
    return Run(onfault, words=f"mode=hv vmi=off onfault={onfault}", why="triple-fault",
               console=(r"triple fault", r"rip [0-9a-f]{16} rsp",
                        r"rax 00000000600dcafe rbx 000000000badf00d",
                        r"rsi 000000005151d1d1 rdi [0-9a-f]{16} rbp 000000000b0bb0b0",
                        r"code \d\d [0-9a-f]+ 0f 0b"),
               exits={"triple_fault": 1}, stays=stays)


def rom_run(mode, told=""):
    return Run(f"{mode}-{told}" if told else mode, words=f"mode=hv vmi={mode}", told=told)


def rom_runs(*modes, two=()):
    """Runs of a guest that uses the ROM, by the word for `vmi=`; every second one with PAE. Then
    those on a machine of two processors, where AMD-V catches writes to the APIC."""
    runs = tuple(rom_run(mode, "pae" if number % 2 else "") for number, mode in enumerate(modes))
    return runs + tuple(replace(rom_run(mode), name=f"{mode}-two", cpus=2) for mode in two)


def shadow_rom_runs(*modes, told=""):
    """The same with shadow page tables, for which the ROM has other routines."""
    return tuple(replace(rom_run(mode, told), name=f"shadow-{mode}", on=(AMD,),
                         words=f"mode=hv vmi={mode} paging=shadow", icount=True)
                 for mode in modes)


def without_trace(runs, reasons):
    """The runs, but for those with `vmi=trace` where there is a reason against it."""
    return tuple(replace(run, not_on=reasons) if "vmi=trace" in run.words else run
                 for run in runs)


def clock_runs(*modes, two=()):
    """The same for a guest that needs VMI's timer."""
    return tuple(replace(run, told=f"{run.told} timer".strip(), icount=True)
                 for run in rom_runs(*modes, two=two))


def linux_runs():
    """Runs of a generation of Linux: on one processor, then on two that do the same at a time."""
    two = (rom_run("on", "two"), rom_run("trace", "pae two"))
    return clock_runs("on", "calls", "trace", "trace") + tuple(
        replace(run, name=run.name.replace(" ", "-"), told=f"{run.told} timer", icount=True, cpus=2)
        for run in two)


def vmi_power(how, why):
    """A run of vmi_power: the call that ends the machine, and what Vellum calls it."""
    return Run(how, words="mode=hv vmi=trace", told=how, why=why, exits={"triple_fault": 0})


GUESTS = (
    Guest("cpuid_leaves", (HV, NATIVE), same=True),  # shadow paging hides more
    Guest("cpuid_follows_cr4", (HV, NATIVE)),
    Guest("cpuid_prefixes", (HV, SHADOW, NATIVE), same=True, on=ALL),
    Guest("cpuid_places", (HV, NATIVE)),
    Guest("cpuid_traps", (replace(HV, not_on=BOCHS_STEP), NATIVE)),
    Guest("cpuid_shadow", (HV, NATIVE)),
    Guest("cpuid_word", (Run("exit", words="mode=hv vmi=off cpuid=exit"),
                         Run("boot", words="mode=hv vmi=off cpuid=boot", told="boot",
                             exits={"cpuid": 5}, on=(AMD, RYZEN)),
                         Run("boot", words="mode=hv vmi=off cpuid=boot", told="boot",
                             once=("CPUID always exits on VT-x",), on=(INTEL,))), on=ALL),
    Guest("msr_efer", (HV, SHADOW, NATIVE), same=True),
    Guest("msr_efer_modes", (HV, SHADOWS, NATIVE), same=True),
    Guest("msr_hidden", (Run("hv", exits={"rdmsr": 7, "wrmsr": 15}, on=(AMD, RYZEN)),
                         Run("hv", exits={"rdmsr": 23, "wrmsr": 23}, on=(INTEL,))), on=ALL),
    Guest("msr_same", (HV, SHADOW, NATIVE), same=True),
    Guest("apic_base", (Run("hv", once=("refused with #GP",)), NATIVE)),
    Guest("misc_enable", (Run("hv", once=("execute-disable",), exits={"rdmsr": 0, "wrmsr": 4}),
                          NATIVE)),
    Guest("svm_instructions", (HV, SHADOW, NATIVE), same=True, on=ALL),
    Guest("vmx_instructions", (HV, NATIVE)),
    Guest("cr0_writes", (HV, NATIVE), same=True, on=(INTEL,)),  # the others check little
    Guest("step_over", (replace(HV, not_on=BOCHS_STEP), NATIVE)),
    Guest("task_switch", (HV, SHADOW_INTEL, NATIVE), same=True),
    Guest("nmi", (HV, SHADOWS, NATIVE), same=True),
    Guest("init", (Run("hv", exits={"init": 1}, console=("INIT reached the boot processor",),
                       not_on=TCG_INIT),), on=ALL),
    Guest("mtrr", (HV, SHADOW, NATIVE), same=True),
    Guest("hidden_memory", (HV, SHADOWS, NATIVE)),
    Guest("hidden_borders", (HV,)),
    Guest("ports_power", (power("port64", "reset"), power("port92", "reset"),
                          power("portcf9", "reset"), power("acpi", "poweroff"),
                          power("acpi-byte", "poweroff"))),
    Guest("ports_harmless", (HV, NATIVE), same=True),
    Guest("ports_harmless", (Run("q35", extra=("-machine", "q35"), not_on=NO_Q35),),
          on=(AMD,)),  # its ACPI resets by CF9h
    Guest("ports_string", (Run("hv", once=("string I/O on port 92h", "string I/O on port cf9h")),
                           NATIVE), same=True),
    Guest("triple_fault", (triple_fault("reset", stays=False), triple_fault("halt", stays=True),
                           triple_fault("park", stays=True))),
    Guest("hypercall", (Run("hv", once=("refused with -38", "announced itself")), NATIVE),
          on=ALL),
    Guest("vmi_slot", (Run("on", words="mode=hv vmi=on"), Run("calls", words="mode=hv vmi=calls"),
                       Run("off", told="none"), replace(NATIVE, told="none")), same=True, on=ALL),
    Guest("vmi_rom", (Run("on", words="mode=hv vmi=on", told="hints", once=("announced itself",)),
                      Run("calls", words="mode=hv vmi=calls")), on=ALL),
    Guest("vmi_irq_ops", tuple(replace(run, icount=True) for run in rom_runs("on", "trace")),
          on=ALL),
    Guest("vmi_iret", (*without_trace(rom_runs("on", "trace"), BOCHS_V86),
                       replace(SHADOW_INTEL, words="mode=hv vmi=on paging=shadow")), on=ALL),
    Guest("vmi_iret_bad", without_trace(rom_runs("on", "trace"), BOCHS_STEP), on=ALL),
    Guest("vmi_sysexit", rom_runs("on", "trace"), on=ALL),
    Guest("vmi_calls_cpu", tuple(replace(run, calls={"WBINVD": 8, "CLTS": 8, "Halt": 0})
                                 for run in rom_runs("trace", "trace")), on=ALL),
    Guest("vmi_calls_tables", rom_runs("trace", "trace"), on=ALL),
    Guest("vmi_calls_mmu", (*rom_runs("trace", "trace"), *shadow_rom_runs("trace")), on=ALL),
    Guest("vmi_flush", rom_runs("trace", "trace"), on=ALL),
    Guest("vmi_shadow", (*shadow_rom_runs("on", "calls", "trace"),
                         replace(shadow_rom_runs("on")[0], on=(INTEL,))), on=BOTH),
    Guest("vmi_calls_ports", rom_runs("trace", "trace"), on=ALL),
    Guest("vmi_calls_apic", (*rom_runs("trace", "trace"),
                             *(replace(run, told="two") for run in rom_runs(two=("trace",)))),
          on=ALL),
    Guest("vmi_cycles", clock_runs("on", "trace", two=("on",)), on=ALL),
    Guest("vmi_alarm_once", clock_runs("on", "trace", two=("on",)), on=ALL),
    Guest("vmi_alarm_ticks", clock_runs("on", "trace", two=("on",)), on=ALL),
    Guest("vmi_alarm_wiring", clock_runs("on", "trace", two=("on",)), on=ALL),
    Guest("vmi_power", (vmi_power("reboot", "reset"), vmi_power("hard", "reset"),
                        vmi_power("shutdown", "poweroff")), on=ALL),
    Guest("vmi_wild", tuple(replace(run, once=("refused with", "announced itself"))
                            for run in rom_runs("on", "trace", two=("on",))), on=ALL),
    # A call that is a hypercall, too, counts once
    Guest("vmi_ap_state", (replace(rom_run("on"), cpus=2),
                           replace(rom_run("trace", "pae"), cpus=2,
                                   calls={"SetInitialAPState": 14})), on=ALL),
    Guest("vmi_smp", tuple(replace(run, cpus=2) for run in rom_runs("on", "trace", "calls")),
          on=ALL),
    Guest("vmi_linux_2_6_21", (*linux_runs(), *shadow_rom_runs("on", told="timer")), on=ALL),
    Guest("vmi_linux_2_6_22", linux_runs(), on=ALL),
    Guest("vmi_linux_2_6_28", linux_runs(), on=ALL),
    Guest("vmi_linux_2_6_30", (*linux_runs(), *shadow_rom_runs("on", told="timer")), on=ALL),
    Guest("cache", (HV, NATIVE), same=True, on=ALL),
    Guest("xsetbv", (HV, SHADOW, NATIVE), same=True),
    Guest("no_exit", (HV, NATIVE)),
    Guest("debug_exceptions", (replace(HV, not_on=BOCHS_DR6), SHADOWS, NATIVE), same=True),
    Guest("endless_db", (Run("hv", not_on=ENDLESS_DB), replace(NATIVE, not_on=ENDLESS_DB)), on=ALL),
    Guest("alignment_check", (HV, NATIVE), same=True, on=ALL),
    Guest("smp_start", (HV2, NATIVE2), same=True, on=ALL),
    Guest("smp_ipi", (HV2, NATIVE2), on=ALL),
    Guest("smp_x2apic", (replace(HV2, not_on=NO_X2APIC), replace(NATIVE2, not_on=NO_X2APIC))),
    Guest("debugged", (HV, NATIVE)),
    Guest("fuzz_kernel", (HV,)),
    Guest("smsw", (HV, SHADOWS, NATIVE)),
    Guest("access_matrix", (SHADOWS, NATIVE), same=True),
    Guest("fuzz_user", (HV, SHADOWS, NATIVE), same=True),
    Guest("disk", (replace(HV, words="mode=hv vmi=off guest=disk"),
                   replace(NATIVE, words="mode=native guest=disk")), same=True, on=ALL,
          disk="disk.img"),
    Guest("multiboot1", (replace(HV, told="root=hd0"), replace(NATIVE, told="root=hd0")),
          same=True, on=ALL, modules=("first --a=${b}", "second")),
    Guest("multiboot2", (replace(HV, told="root=hd0"), replace(NATIVE, told="root=hd0")),
          same=True, on=ALL, modules=("first --a=${b}", "second")),
    Guest("real_mode", (HV, SHADOWS, OLD_CPU, NATIVE), same=True),
    Guest("high_memory", (HV, NATIVE), same=True),
)
