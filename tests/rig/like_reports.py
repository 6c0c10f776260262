# SPDX-License-Identifier: GPL-2.0-or-later
"""Bug reports as users write them, with the output of programs. Names and numbers are changed.

Most take their facts (machine, programmer, part, symptom) from public reports. Some are made up to
show one property, such as two programmers or the lines of a journal. Each names the arguments of
`rig/rig try` that describe it, and the questions that it leaves open.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    text: str
    words: str
    """The arguments of `rig/rig try`."""
    open: str
    """The questions that the report does not answer, joined by commas."""


def banner(version: str, machine: str, kernel: str = "5.10.0") -> str:
    return f"flashrom {version} on Linux {kernel} ({machine})\n"


FINE = "Using clock_gettime for delay loops (clk_id: 1, resolution: 1ns).\n"
LOOP = "Calibrating delay loop... OK.\n"


def found(vendor: str, chip: str, kib: int, programmer: str) -> str:
    return f'Found {vendor} flash chip "{chip}" ({kib} kB, SPI) on {programmer}.\n'


WRITING = "Reading old flash chip contents... done.\nErasing and writing flash chip... "
VERIFY_FAILED = (
    f"{WRITING}Erase/write done.\nVerifying flash... FAILED at 0x00000101! Expected=0x1f,"
    " Found=0x11, failed byte count from 0x00000000-0x0007ffff: 0x371\n"
)
ERASE_FAILED = (
    f"{WRITING}FAILED at 0x00000000! Expected=0xff, Found=0x00, failed byte count from"
    " 0x00000000-0x00000fff: 0x1000\nERASE FAILED!\n"
)


def lscpu(arch: str, cpus: int, *models: tuple[str, int, str]) -> str:
    """Returns the output of lscpu; each model has a name, its cores and its highest clock."""
    lines = [f"Architecture:          {arch}", f"CPU(s):                {cpus}"]
    for name, cores, mhz in models:
        lines += [f"Model name:            {name}", "  Thread(s) per core:  1"]
        lines += [f"  Core(s) per socket:  {cores}", "  Socket(s):           1"]
        lines += [f"  CPU max MHz:         {mhz}"] if mhz else []
    return "\n".join(lines) + "\n"


def cpuinfo(*cores: str, tail: str = "") -> str:
    """Returns /proc/cpuinfo of a machine with these lines for each core."""
    return "".join(f"processor\t: {at}\n{core}\n\n" for at, core in enumerate(cores)) + tail


def arm(part: str) -> str:
    return f"BogoMIPS\t: 48.00\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: {part}"


def cpupower(cores: str, limits: str, governor: str, driver: str = "cpufreq-dt") -> str:
    return (
        f"analyzing CPU {cores.split()[0]}:\n  driver: {driver}\n"
        f"  CPUs which run at the same hardware frequency: {cores}\n"
        f"  hardware limits: {limits}\n"
        f'                  The governor "{governor}" may decide which speed to use\n'
    )


DEVICE_TREE = """
/ {
	compatible = "rockchip,rk3399";
	cpus {
		cpu_l0: cpu@0 {
			compatible = "arm,cortex-a53";
			capacity-dmips-mhz = <485>;
			operating-points-v2 = <&cluster0_opp>;
		};
		cpu_l1: cpu@1 {
			compatible = "arm,cortex-a53";
			capacity-dmips-mhz = <485>;
			operating-points-v2 = <&cluster0_opp>;
		};
		cpu_b0: cpu@100 {
			compatible = "arm,cortex-a72";
			capacity-dmips-mhz = <1024>;
			operating-points-v2 = <&cluster1_opp>;
		};
	};
	cluster0_opp: opp-table-0 {
		opp00 { opp-hz = /bits/ 64 <408000000>; };
		opp01 { opp-hz = /bits/ 64 <1416000000>; };
	};
	cluster1_opp: opp-table-1 {
		opp00 { opp-hz = /bits/ 64 <408000000>; };
		opp01 {
			opp-hz = /bits/ 64 <1800000000>;
		};
	};
};
"""
PRINTED_TREE = """
/ {
	compatible = "vendor,board\\0vendor,soc";
	cpus {
		cpu@0 {
			compatible = "arm,cortex-a55";
			capacity-dmips-mhz = <0x200>;
			operating-points-v2 = <0x0c>;
		};
		cpu@100 {
			compatible = "arm,cortex-a76";
			capacity-dmips-mhz = <0x400>;
			operating-points-v2 = <0x0d>;
		};
	};
	opp-table-0 {
		phandle = <0x0c>;
		opp-1 { opp-hz = <0x00 0x77359400>; };
	};
	opp-table-1 {
		phandle = <0x0d>;
		opp-1 { opp-hz = <0x00 0x8f0d1800>; };
	};
};
"""

REPORTS = {
    "verify fails on a USB blaster": Reported(
        text="$ sudo flashrom -p usbblaster_spi -w rom.bin\n"
        + banner("v1.3.0", "x86_64")
        + FINE
        + found("Macronix", "MX25L6406E/MX25L6408E", 8192, "usbblaster_spi")
        + VERIFY_FAILED
        + lscpu("x86_64", 4, ("Intel(R) Core(TM) i5-6200U CPU @ 2.30GHz", 4, "2800.0000")),
        words="debian:bookworm --mips 1000 --cores 4 --arch x86_64 --chip MX25L6406E --job write",
        open="programmer",
    ),
    "erase fails on a small board": Reported(
        text=banner("v0.9.9-r1954", "armv7l", "4.4.13-v7+")
        + LOOP
        + found("Winbond", "W25Q16.W", 2048, "linux_spi")
        + ERASE_FAILED
        + cpuinfo(*[arm("0xd03")] * 4, tail="Hardware\t: BCM2835\n"),
        words="bundled --cores 4 --arch armhf --job write",
        open="flashrom,speed,chip,programmer,timers",
    ),
    "command of the mail is quoted": Reported(
        text="> flashrom  on Linux 4.19.66-v7l+ (armv7l)\n"
        "> Command line (5 args): flashrom -p linux_spi:dev=/dev/spidev0.0,spispeed=2000 -w a.bin\n"
        "> Using clock_gettime for delay loops (clk_id: 1, resolution: 1ns).\n"
        '> Found Winbond flash chip "W25Q64.V" (8192 kB, SPI) on linux_spi.\n',
        words="bundled --chip W25Q64FV,W25Q64JV --programmer linux_spi --job write",
        open="flashrom,speed,cores,architecture",
    ),
    "adapter without a driver in our flashrom": Reported(
        text="$ flashrom -p ch341a_spi -w bios.bin\n"
        + found("Winbond", "W25Q64.V", 8192, "ch341a_spi"),
        words="debian:trixie --chip W25Q64FV,W25Q64JV --programmer ch341a_spi --job write",
        open="flashrom,speed,cores,architecture,timers",
    ),
    "serial programmer with its speed": Reported(
        text="# flashrom -p serprog:dev=/dev/ttyACM0:115200 -c W25Q128.V -r out.bin -V\n"
        + banner("v1.4.0", "x86_64")
        + FINE
        + found("Winbond", "W25Q128.V", 16384, "serprog")
        + "[    0.1] smp: Brought up 1 node, 2 CPUs\n"
        + cpupower("0 1", "800 MHz - 2.40 GHz", "performance", "acpi-cpufreq"),
        words="debian:trixie --mips 1000 --cores 2 --arch x86_64 --chip W25Q128FV,W25Q128JV"
        " --programmer serprog:dev --job read --hazard link:baud=115200",
        open="",
    ),
    "unreliable delay loop on an old laptop": Reported(
        text=banner("v0.9.2-r1028", "i686", "2.6.35")
        + "Calibrating delay loop... delay loop is unreliable, trying to continue OK.\n"
        + 'Found chip "SST SST49LF004A/B" (512 KB, FWH) at physical address 0xfff80000.\n'
        + "Writing flash chip... Erasing flash chip... ERASE FAILED at 0x00000008!"
        " Expected=0xff, Read=0x00, failed byte count from 0x00000000-0x00000fff: 0xfc5\n",
        words="bundled --arch i386 --chip SST49LF004B --programmer serprog:native-delay"
        " --job write",
        open="flashrom,speed,cores,programmer,timers,why its delay loop was unreliable",
    ),
    "timers of a slow router": Reported(
        text=banner("1.3.0", "mips", "5.4.0")
        + "Using clock_gettime for delay loops (clk_id: 1, resolution: 4000000ns).\n"
        + found("GigaDevice", "GD25Q128C", 16384, "linux_mtd")
        + cpupower("0", "580 MHz - 580 MHz", "performance"),
        words="debian:bookworm --mips 500 --chip GD25Q127C,GD25Q128C --hazard low-res-timers",
        open="cores,architecture,programmer,job",
    ),
    "one slow core, reported by two programs": Reported(
        text=lscpu("i686", 1, ("Geode(TM) Integrated Processor by AMD PCS", 1, "500.0000"))
        + banner("1.3.0", "i686")
        + "OS timer resolution is 10000 usecs, 4 myus = 20000 us\n"
        + "$ flashrom -p internal -E\n",
        words="debian:bookworm --mips 500 --cores 1 --arch i386 --job erase"
        " --hazard low-res-timers",
        open="chip,programmer",
    ),
    "unequal cores, described by a device tree": Reported(
        text=DEVICE_TREE + banner("v1.2", "aarch64") + FINE,
        words="bundled --lane live --mips 1677:1677:4500 --hazard none --hazard move:accept",
        open="flashrom,architecture,chip,programmer,job",
    ),
    "the same tree as dtc prints it": Reported(
        text=PRINTED_TREE,
        words="bundled --lane live --mips 3500:8400 --hazard none --hazard move:accept",
        open="flashrom,architecture,chip,programmer,job,timers",
    ),
    "unequal cores, listed by lscpu": Reported(
        text=lscpu("aarch64", 6, ("Cortex-A53", 4, "1416,0000"), ("Cortex-A72", 2, "1800,0000"))
        + cpupower("0 1 2 3", "408 MHz - 1.42 GHz", "ondemand")
        + cpupower("4 5", "408 MHz - 1.80 GHz", "ondemand"),
        words="bundled --lane live --mips 1704:1704:1704:1704:4500:4500"
        " --hazard governor:ondemand --hazard move:accept+governor:ondemand",
        open="flashrom,architecture,chip,programmer,job,timers",
    ),
    "unequal cores without clocks": Reported(
        text=cpuinfo(*[arm("0xd03")] * 4, *[arm("0xd08")] * 2),
        words="bundled --cores 4",
        open="flashrom,speeds,architecture,chip,programmer,job,timers",
    ),
    "machine that ships with the rig": Reported(
        text=lscpu("x86_64", 2, ("Intel(R) Celeron(R) CPU N3350 @ 1.10GHz", 2, "2400.0000"))
        + banner("v1.4.0", "x86_64")
        + FINE
        + "flashrom -p internal -w coreboot.rom\n"
        + found("Winbond", "W25Q128.W", 16384, "internal"),
        words="debian:trixie --machine n3350 --arch x86_64 --job write",
        open="chip,programmer",
    ),
    "tablet whose log has the device tree's model": Reported(
        text="[    0.000000] Machine model: MediaTek MT8173 tablet\n"
        "[    0.000000] Linux version 5.10.0 (build@host) #1 SMP PREEMPT\n"
        "[    0.020000] smp: Brought up 1 node, 4 CPUs\n",
        words="bundled --machine mt8173",
        open="flashrom,architecture,chip,programmer,job,timers",
    ),
    "server with more cores than a guest can have": Reported(
        text=lscpu("x86_64", 36, ("Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz", 36, "3700.0000")),
        words="bundled --mips 1000 --cores 4 --arch x86_64",
        open="flashrom,chip,programmer,job,timers",
    ),
    "laptop with two kinds of cores": Reported(
        text=lscpu("x86_64", 12, ("12th Gen Intel(R) Core(TM) i5-1240P", 12, "4400.0000"))
        + cpupower("0", "400 MHz - 4.40 GHz", "powersave", "intel_pstate"),
        words="bundled --mips 1000 --cores 4 --arch x86_64",
        open="flashrom,kinds of cores,chip,programmer,job,timers,hazard governor:schedutil",
    ),
    "kernel without a usable TSC": Reported(
        text="[    0.0] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro nohz=off\n"
        "[    0.1] clocksource: Switched to clocksource tsc-early\n"
        "[    1.2] tsc: Marking TSC unstable due to clocksource watchdog\n"
        "[    1.3] clocksource: Switched to clocksource hpet\n"
        "[    0.0] smpboot: Allowing 2 CPUs, 0 hotplug CPUs\n"
        "[    0.2] smp: Brought up 1 node, 2 CPUs\n" + banner("v1.3.0", "x86_64"),
        words="debian:bookworm --cores 2 --arch x86_64 --hazard clocksource:hpet+no-nohz",
        open="speed,chip,programmer,job",
    ),
    "real-time kernel whose clock was set": Reported(
        text="Linux box 6.1.0-13-rt-amd64 #1 SMP PREEMPT_RT Debian 6.1.55-1 x86_64 GNU/Linux\n"
        "chronyd[311]: System clock was stepped by -3.912345 seconds\n"
        "[  123.456] sched: RT throttling activated\n" + banner("v1.4.0", "x86_64") + FINE,
        words="debian:trixie --arch x86_64 --hazard preempt-rt+rt-throttle+wall-clock-step:-3",
        open="speed,cores,chip,programmer,job",
    ),
    "virtual machine that verifies only": Reported(
        text="[    0.0] Hypervisor detected: KVM\n[    0.1] smp: Brought up 1 node, 1 CPUs\n"
        "user@vm:~$ flashrom -p ch341a_spi -v bios.bin\n" + banner("v1.4.0", "x86_64") + FINE,
        words="debian:trixie --cores 1 --arch x86_64 --programmer ch341a_spi --job verify",
        open="speed,chip,how much time its host took away",
    ),
    "network card with a parallel part": Reported(
        text="flashrom -p nicintel -w boot.rom\n"
        + banner("v1.3.0", "x86_64")
        + 'Found SST flash chip "SST29EE010" (128 kB, Parallel) on nicintel.\n'
        + VERIFY_FAILED
        + lscpu("x86_64", 2, ("Intel(R) Pentium(R) 4 CPU 2.80GHz", 2, "")),
        words="debian:bookworm --cores 2 --arch x86_64 --chip SST29EE010 --programmer nicintel"
        " --job write",
        open="speed,timers",
    ),
    "part that is identified only by its SFDP tables": Reported(
        text=banner("unknown", "aarch64", "6.6.51-v8")
        + FINE
        + found("Unknown", "SFDP-capable chip", 2048, "linux_spi")
        + "[   12.3] hwmon hwmon1: Undervoltage detected!\n"
        + "flashrom -p linux_spi:dev=/dev/spidev0.0 -r a.bin\n"
        + "flashrom -p linux_spi:dev=/dev/spidev0.0 -w b.bin\n",
        words="bundled --arch arm64",
        open="flashrom,speed,cores,chip,programmer,job,how often its clock changed",
    ),
    "two machines in one report": Reported(
        text=lscpu("x86_64", 4, ("Intel(R) Core(TM) i5-6200U CPU @ 2.30GHz", 4, "2800.0000"))
        + lscpu("aarch64", 2, ("Cortex-A72", 2, "1500.0000"))
        + banner("v1.3.0", "x86_64")
        + banner("v1.4.0", "aarch64"),
        words="bundled",
        open="flashrom,speed,cores,architecture,chip,programmer,job,timers",
    ),
    "a fork of flashrom that erases, then writes with an adapter": Reported(
        text="$ ./flashprog -p ch341a_spi -E --progress -f\n"
        + banner("p1.2-2", "x86_64").replace("flashrom", "flashprog")
        + FINE
        + found("Micron/Numonyx/ST", "N25Q064..3E", 8192, "ch341a_spi")
        + "Erasing flash chip... FAILED at 0x00000000! Expected=0xff, Found=0x00\nERASE FAILED!\n"
        "$ ./flashprog -p ch341a_spi --progress -f -w bottom.rom\n",
        words="debian:trixie --arch x86_64 --programmer ch341a_spi --job erase",
        open="flashrom,speed,cores,chip",
    ),
    "serial programmer without a device, erased without a command": Reported(
        text=banner("v1.2", "x86_64")
        + FINE
        + found("Winbond", "W25Q64.V", 8192, "serprog")
        + "Erasing flash chip... FAILED at 0x00002005! Expected=0xff, Found=0xdd\n",
        words="bundled --arch x86_64 --chip W25Q64FV,W25Q64JV --job erase",
        open="flashrom,speed,cores,programmer",
    ),
    "options in one word": Reported(
        text="# ./flashrom -p serprog:dev=/dev/ttyACM0:2000000 -c AT25F512 -VE\n"
        + banner("v0.9.7-r1711", "i686", "3.2.0")
        + "OS timer resolution is 1 usecs, 4 myus = 9 us, OK.\n"
        + found("Atmel", "AT25F512", 64, "serprog"),
        words="bundled --arch i386 --programmer serprog:dev --job erase --hazard link:baud=2000000",
        open="flashrom,speed,cores,chip",
    ),
    "lines that a mail has wrapped": Reported(
        text="> > $ sudo flashrom -p\n> > ch341a_spi -wrom.bin\n"
        "> > "
        + banner("v1.2", "x86_64", "5.11.0")
        + "> > "
        + FINE
        + '> > Found Macronix flash chip "MX25L3206E/MX25L3208E" (4096 kB, SPI) on\n'
        "> > ch341a_spi.\n> > Erasing and writing flash chip... FAILED at 0x0001347f!"
        " Expected=0xff,\n> > Found=0xef, failed byte count from 0x00013000-0x00013fff: 0x7\n",
        words="debian:trixie --arch x86_64 --chip MX25L3206E --programmer ch341a_spi --job write",
        open="flashrom,speed,cores",
    ),
    "speed of the bus with a space, and an echo without quotation marks": Reported(
        text="$ sudo flashrom -V -p 'internal:spispeed=16.5 MHz' -c W25Q256.W -w a.bin -o b.log\n"
        "flashrom  on Linux 5.11.0 (x86_64)\n"
        "Command line (9 args): flashrom -V -p internal:spispeed=16.5 MHz -c W25Q256.W -w a.bin\n"
        + FINE
        + 'Found chipset "AMD FP4" with PCI ID 1022:790e.\n'
        'Found Winbond flash chip "W25Q256.W" (32768 kB, SPI) mapped at physical address 0x0.\n',
        words="debian:trixie --arch x86_64 --programmer internal --job write",
        open="flashrom,speed,cores,chip",
    ),
    "development version with the name of its commit": Reported(
        text="flashrom v1.5.0-devel (git:v1.4.0-68-g0a1b2c3d) on Linux 6.1.21-v8+ (aarch64)\n"
        "FAILED at 0x00008000! Expected=0xff, Found=0x00, failed byte count\n",
        words="bundled --arch arm64",
        open="flashrom,speed,cores,chip,programmer,job,timers",
    ),
    "old board with a part on LPC": Reported(
        text="root@box:~# ./flashrom -w bios.bin\nflashrom v0.9.0-r665\n"
        'Found chipset "NVIDIA MCP51", enabling flash write... OK.\n'
        + LOOP
        + 'Found chip "Winbond W39V040A" (512 KB, LPC) at physical address 0xfff80000.\n'
        "Writing flash chip... ERASE FAILED at 0x00000000! Expected=0xff, Read=0x49\n"
        "Verifying flash... VERIFY FAILED at 0x00000000! Expected=0x21, Read=0x49\n",
        words="debian:trixie --chip W39V040A --programmer internal:memory --job write",
        open="flashrom,speed,cores,architecture,timers",
    ),
    "log of a probe after a write that failed": Reported(
        text=f"{ERASE_FAILED}Now with -V:\n"
        + banner("v0.9.7-r1711", "i686", "3.14.50")
        + "Command line (3 args): flashrom -p internal -V\n"
        'Found PMC flash chip "Pm49FL004" (512 kB, LPC, FWH) at physical address 0xfff80000.\n'
        + ERASE_FAILED,
        words="debian:trixie --chip Pm49FL004 --programmer internal:memory --job write",
        open="flashrom,speed,cores,architecture,timers",
    ),
    "excerpt with the part's address instead of the programmer": Reported(
        text='Found Macronix flash chip "MX25L6406E/MX25L6408E" (8192 kB, SPI)'
        " mapped at physical address 0x00000000ff800000.\n" + ERASE_FAILED,
        words="debian:trixie --chip MX25L6406E --programmer internal --job write",
        open="flashrom,speed,cores,architecture,timers",
    ),
    "another system, and no part found": Reported(
        text="sudo flashrom -p ch341a_spi -r test.bin\n"
        "flashrom v1.3.0 on Darwin 20.6.0 (x86_64)\n" + LOOP + "No EEPROM/flash device found.\n",
        words="debian:bookworm --arch x86_64 --programmer ch341a_spi --job read",
        open="speed,cores,system,chip,timers",
    ),
    "log of the emulator in flashrom beside that of the programmer": Reported(
        text=banner("v1.4.0", "x86_64")
        + FINE
        + found("GigaDevice", "GD25Q64C", 8192, "ch341a_spi")
        + f"{WRITING}Erase/write done.\nflashrom -VV --programmer dummy\n",
        words="debian:trixie --arch x86_64 --chip GD25Q64C --programmer ch341a_spi --job write",
        open="speed,cores",
    ),
    "two programmers in one report": Reported(
        text="$ flashrom -p internal -r a.bin\n$ flashrom -p ch341a_spi -r a.bin\n"
        + banner("v1.4.0", "x86_64")
        + FINE,
        words="debian:trixie --arch x86_64 --job read",
        open="speed,cores,chip,programmer",
    ),
    "old lscpu, which lists one of two kinds of cores": Reported(
        text="Architecture:        aarch64\nCPU(s):              6\nThread(s) per core:  1\n"
        "Core(s) per socket:  3\nSocket(s):           2\nModel name:          Cortex-A53\n"
        "CPU max MHz:         1800.0000\n",
        words="bundled --mips 1000 --cores 4 --arch arm64",
        open="flashrom,kinds of cores,chip,programmer,job,timers",
    ),
    "clocks of two clusters without their numbers of cores": Reported(
        text=lscpu("aarch64", 8, ("-", 1, "1800.0000"), ("-", 1, "2256.0000")),
        words="bundled --mips 1000 --cores 4 --arch arm64",
        open="flashrom,speeds,chip,programmer,job,timers",
    ),
    "clock that its policy limits to the lowest frequency": Reported(
        text=cpupower("12", "400 MHz - 4.46 GHz", "powersave", "amd-pstate-epp").replace(
            "  hardware limits: 400 MHz - 4.46 GHz\n",
            "  hardware limits: 400 MHz - 4.46 GHz\n"
            "  current policy: frequency should be within 400 MHz and 400 MHz.\n",
        ),
        words="bundled --mips 500",
        open="flashrom,cores,architecture,chip,programmer,job,timers",
    ),
    "kernel's lines in a journal": Reported(
        text="Sep 23 21:33:08 box kernel: Linux version 6.1.0-rt (a@b) #1 SMP PREEMPT_RT\n"
        "Sep 23 21:33:08 box kernel: clocksource: Switched to clocksource hpet\n"
        "2026-01-02T03:04:05+00:00 box kernel: [    0.2] smp: Brought up 1 node, 2 CPUs\n",
        words="bundled --cores 2 --hazard preempt-rt+clocksource:hpet",
        open="flashrom,speed,architecture,chip,programmer,job",
    ),
}
