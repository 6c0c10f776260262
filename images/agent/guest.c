// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest.h"
#include "hypercall.h"
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const system_folders[][2] = {
	{"/dev", "devtmpfs"}, {"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev/pts", "devpts"}};
#define SYSTEM_FOLDERS (sizeof(system_folders) / sizeof(system_folders[0]))
#define LOOKS_MAX 10000
/* Lets late initcalls and timers of the boot end. Idle virtual time costs nothing. */
#define BOOT_SETTLE_MS 3000
/* Lets RCU, whose thread has timers on any CPU, finish with the closed files. */
#define REPORT_SETTLE_MS 1000

static void mount_system(void)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		mkdir(system_folders[i][0], 0755);
		mount(system_folders[i][1], system_folders[i][0], system_folders[i][1], 0, NULL);
	}
}

int guest_show_system_in(const char *root)
{
	for (size_t i = 0; i < SYSTEM_FOLDERS; i++) {
		char target[256];

		snprintf(target, sizeof(target), "%s%s", root, system_folders[i][0]);
		mkdir(target, 0755);
		if (mount(system_folders[i][0], target, NULL, MS_BIND, NULL) < 0)
			return -errno;
	}
	return 0;
}

int guest_unpack(const struct window *window, const char *fw_cfg_name, const char *folder)
{
	const uint8_t *archive;
	size_t bytes;
	int error = hypercall_fetch(window, fw_cfg_name, &archive, &bytes);

	if (error)
		return error;
	mkdir(folder, 0755);
	return cpio_unpack(archive, bytes, folder);
}

char *guest_read_text(const char *path)
{
	char *text = NULL;
	size_t capacity = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		return NULL;
	if (getdelim(&text, &capacity, '\0', file) < 0) {
		free(text);
		text = NULL;
		if (feof(file))
			errno = ENODATA;
	}
	fclose(file);
	return text;
}

int guest_write_text(const char *path, const char *text)
{
	ssize_t bytes = (ssize_t)strlen(text);
	int file = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t wrote = file < 0 ? -1 : write(file, text, (size_t)bytes);
	int error = wrote < 0 ? -errno : 0;

	close(file);
	return error || wrote == bytes ? error : -EIO;
}

int guest_await_file(const char *path)
{
	for (unsigned int looks = 0; looks < LOOKS_MAX; looks++) {
		if (access(path, F_OK) == 0)
			return 0;
		process_sleep_ms(1);
	}
	return -ETIMEDOUT;
}

static int copy_into(const char *from, int to, off_t offset)
{
	uint8_t block[4096];
	int error = 0;
	ssize_t got = 0;
	int file = open(from, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return -errno;
	while (!error && (got = read(file, block, sizeof(block))) > 0) {
		if (pwrite(to, block, (size_t)got, offset) != got)
			error = -EIO;
		offset += got;
	}
	close(file);
	return got < 0 ? -EIO : error;
}

int guest_make_image(const struct spec_image *image)
{
	int file = open(image->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int error;

	if (file < 0)
		return -errno;
	error = ftruncate(file, (off_t)image->size_bytes) < 0
			? -errno
			: copy_into(image->from, file, (off_t)image->offset_bytes);
	close(file);
	return error;
}

int guest_bring_up(const char *interface)
{
	struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
	int control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error;

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	error = control < 0 || ioctl(control, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
	close(control);
	return error;
}

/*
 * Stops work of the kernel in idle guests: compaction examines the memory twice a second, and
 * statistics are gathered once a second (sysctl/vm.rst). Not all kernels have these settings.
 */
static void quiet_kernel(void)
{
	guest_write_text("/proc/sys/vm/compaction_proactiveness", "0");
	guest_write_text("/proc/sys/vm/stat_interval", "100000");
}

/*
 * Disables TCP's measures against losses and delays, which the loopback interface does not have.
 * This saves a tenth of a round trip, and does not change when bytes arrive. Also disables the
 * throttling of real-time tasks, which would delay the emulator; none of them runs for long.
 */
static int change_settings(void)
{
	static const char *const settings[][2] = {
		{"/proc/sys/net/ipv4/tcp_early_retrans", "0"},
		{"/proc/sys/net/ipv4/tcp_timestamps", "0"},
		{"/proc/sys/kernel/sched_rt_runtime_us", "-1"},
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]) && !error; i++)
		error = guest_write_text(settings[i][0], settings[i][1]);
	return error;
}

/*
 * Makes the kernel's random numbers ready, as on a machine that has been up for a while. A guest
 * cannot gather entropy, and a kernel whose generator is not ready needs thousands of instructions
 * for each number; on arm64 each system call takes such a number, unless randomize_kstack_offset is
 * off. The seed is the same in all guests, so that times stay the same (random(4)).
 */
static int seed_random(void)
{
	struct {
		struct rand_pool_info info;
		uint32_t seed[8];
	} pool = {.info = {.entropy_count = 8 * sizeof(pool.seed), .buf_size = sizeof(pool.seed)}};
	int device = open("/dev/urandom", O_WRONLY | O_CLOEXEC);
	int error = device < 0 || ioctl(device, RNDADDENTROPY, &pool) < 0 ? -errno : 0;

	close(device);
	return error;
}

uint64_t guest_number(const char *key)
{
	char *line = guest_read_text("/proc/cmdline");
	const char *at = line ? strstr(line, key) : NULL;
	uint64_t number = at ? strtoull(at + strlen(key), NULL, 0) : 0;

	free(line);
	return number;
}

void guest_stop(const char *what, int error)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(-error));
	for (;;) {
		hypercall_pause();
		process_sleep_ms(1000);
	}
}

void guest_require(int error, const char *what)
{
	if (error < 0)
		guest_stop(what, error);
}

void guest_begin(struct window *window)
{
	int error;

	mount_system();
	guest_require(hypercall_init(), "no access to devices");
	guest_require(window_open(window, guest_number("rig.window_address="),
			      guest_number("rig.window_bytes=")),
		"no window to the host");
	guest_require(seed_random(), "no random numbers");
	error = guest_bring_up("lo");
	if (!error)
		error = change_settings();
	if (!error)
		quiet_kernel();
	if (!error)
		error = process_init();
	guest_require(error, "no network or no real-time priority");
}

/*
 * Also reports how far the virtual clock advanced during the pause: QEMU's main loop treats the
 * stopped CPU as idle, and advances the clock to the next timer. That timer must be the tick of
 * this CPU, so all other CPUs must have been idle for long. Otherwise the CPU that continues first
 * would depend on what QEMU did before (rig/delayrig/machine/device_state.py).
 */
void guest_take_snapshot(struct report *report)
{
	uint64_t before_ns;

	process_sleep_ms(BOOT_SETTLE_MS);
	guest_require(report_open(report), "no report");
	report_guest(report);
	process_sleep_ms(REPORT_SETTLE_MS);
	before_ns = hypercall_virtual_ns();
	hypercall_pause();
	report_moment(report, "resumed", "skipped_ns", hypercall_virtual_ns() - before_ns);
}
