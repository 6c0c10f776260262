/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The arrival time of bytes at a socket, as the kernel stamped it, by CLOCK_MONOTONIC. It does not
 * depend on when the scheduler runs their reader.
 *
 * The kernel stamps the bytes of a TCP connection (SO_TIMESTAMPNS, since Linux 4.16), on the
 * loopback interface within the sender's own call. Stamps are by the wall clock, so it is compared
 * with CLOCK_MONOTONIC after each read.
 */
#include "link.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

static int64_t to_ns(const struct timespec *time)
{
	return (int64_t)time->tv_sec * NS_PER_S + time->tv_nsec;
}

bool arrival_enable(int fd)
{
	int on = 1;

	return setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) == 0;
}

/*
 * Reads the wall clock between two readings of CLOCK_MONOTONIC, so that a pause between readings
 * widens the interval and never shifts it. Ignores a stamp from the future, or from before the
 * monotonic clock began: the wall clock was stepped.
 */
static void convert(const struct timespec *stamp, struct arrival *arrival)
{
	int64_t before_ns = (int64_t)clock_source_read_ns(CLOCK_SOURCE_MONOTONIC);
	struct timespec wall;
	int64_t after_ns;
	int64_t age_ns;

	clock_gettime(CLOCK_REALTIME, &wall);
	after_ns = (int64_t)clock_source_read_ns(CLOCK_SOURCE_MONOTONIC);
	age_ns = to_ns(&wall) - to_ns(stamp);
	if (age_ns < 0 || age_ns > before_ns)
		return;
	arrival->since_ns = (uint64_t)(before_ns - age_ns);
	arrival->until_ns = (uint64_t)(after_ns - age_ns);
}

static void take_stamp(struct msghdr *message, struct arrival *arrival)
{
	struct cmsghdr *control;

	for (control = CMSG_FIRSTHDR(message); control; control = CMSG_NXTHDR(message, control)) {
		struct timespec stamp;

		if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&stamp, CMSG_DATA(control), sizeof(stamp));
		convert(&stamp, arrival);
	}
}

ssize_t arrival_read(int fd, void *bytes, size_t size, struct arrival *arrival)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(struct timespec))];
	} control;
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got = recvmsg(fd, &message, 0);

	*arrival = (struct arrival){0};
	if (got > 0)
		take_stamp(&message, arrival);
	return got;
}
