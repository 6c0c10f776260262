// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
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

#define WINDOW_ADDRESS_KEY "rig.window_address="
#define WINDOW_BYTES_KEY "rig.window_bytes="

static int bring_up_loopback(void)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int error = any < 0 || ioctl(any, SIOCSIFFLAGS, &request) < 0 ? -errno : 0;

	close(any);
	return error;
}

static int write_setting(const char *path, const char *value)
{
	ssize_t len = (ssize_t)strlen(value);
	int file = open(path, O_WRONLY | O_CLOEXEC);
	int error = file < 0 || write(file, value, (size_t)len) != len ? -errno : 0;

	close(file);
	return error;
}

/* A throttled emulator would see everything late; and nothing real-time here runs for long. */
static int lift_realtime_throttling(void)
{
	return write_setting("/proc/sys/kernel/sched_rt_runtime_us", "-1");
}

/*
 * What TCP does with each segment for a network that loses or delays some. The loopback interface
 * does neither. They save a tenth of a round trip, and change nothing of when bytes are there.
 */
static int simplify_tcp(void)
{
	static const char *const needless[] = {
		"/proc/sys/net/ipv4/tcp_early_retrans",
		"/proc/sys/net/ipv4/tcp_timestamps",
	};
	int error = 0;

	for (size_t i = 0; i < sizeof(needless) / sizeof(needless[0]) && !error; i++)
		error = write_setting(needless[i], "0");
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
	char line[4096] = "";
	FILE *file = fopen("/proc/cmdline", "re");
	const char *at;

	if (!file)
		return 0;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	at = strstr(line, key);
	return at ? strtoull(at + strlen(key), NULL, 0) : 0;
}

void guest_stop(const char *what, int error)
{
	fprintf(stderr, "agent: %s: %s\n", what, strerror(-error));
	for (;;) {
		hypercall_pause();
		process_sleep_ms(1000);
	}
}

void guest_begin(struct window *window)
{
	int error;

	folders_mount_system();
	error = hypercall_init();
	if (error)
		guest_stop("no access to devices", error);
	error = window_open(
		window, guest_number(WINDOW_ADDRESS_KEY), guest_number(WINDOW_BYTES_KEY));
	if (error)
		guest_stop("no window to the host", error);
	error = seed_random();
	if (error)
		guest_stop("no random numbers", error);
	error = bring_up_loopback();
	if (!error)
		error = simplify_tcp();
	if (!error)
		error = lift_realtime_throttling();
	if (!error)
		error = process_init();
	if (error)
		guest_stop("no network or no real-time priority", error);
}
