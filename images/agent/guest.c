// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest.h"
#include "folders.h"
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
#include <sys/socket.h>
#include <unistd.h>

int guest_bring_up(const char *interface)
{
	struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error;

	strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
	error = any < 0 || ioctl(any, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;
	close(any);
	return error;
}

/*
 * What TCP does with each segment for a network that loses or delays some is needless: the loopback
 * interface does neither. It saves a tenth of a round trip, and changes nothing of when bytes are
 * there. A throttled emulator would see everything late, and nothing real-time here runs for long.
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
		error = folders_write_text(settings[i][0], settings[i][1]);
	return error;
}

/*
 * The kernel's random numbers are ready, as they are on a machine that has been up for a while. A
 * guest has nothing to gather entropy from, and a kernel whose generator is not ready makes each
 * number anew, with thousands of instructions: one for each system call on arm64, if it was not
 * told to leave its stack in place. The same seed in each guest, so that its times stay the same
 * (random(4)).
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
	char *line = folders_read_text("/proc/cmdline");
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

	folders_mount_system();
	guest_require(hypercall_init(), "no access to devices");
	guest_require(window_open(window, guest_number("rig.window_address="),
			      guest_number("rig.window_bytes=")),
		"no window to the host");
	guest_require(seed_random(), "no random numbers");
	error = guest_bring_up("lo");
	if (!error)
		error = change_settings();
	if (!error)
		error = process_init();
	guest_require(error, "no network or no real-time priority");
}
