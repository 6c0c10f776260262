// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>

/* Source: seccomp(2), linux/seccomp.h; numbers: the kernel's tables of system calls. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_AT_LEAST(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, value, yes, no)
#define IF_ANY_BIT(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, value, yes, no)

#define X32_CALLS 0x40000000 /* the same calls once more, by other numbers */
#define CLONE3 435           /* everywhere; its flags lie in memory, where no filter looks */

/*
 * One architecture: 12 instructions, or on to the next. Flags are the first argument of both, in
 * its lower half. Whoever gets ENOSYS from clone3() takes clone(), as the C libraries do.
 */
#define CALLS_OF(machine, clone, unshare, other_numbers)                                           \
	LOAD(arch), IF_EQUAL(machine, 0, 10), LOAD(nr), IF_AT_LEAST(other_numbers, 7, 0),          \
		IF_EQUAL(CLONE3, 5, 0), IF_EQUAL(clone, 1, 0), IF_EQUAL(unshare, 0, 2),            \
		LOAD(args[0]), IF_ANY_BIT(CLONE_NEWUSER, 2, 0), ALLOW, REFUSE(ENOSYS),             \
		REFUSE(EPERM)

#define NO_OTHER_NUMBERS 0xffffffff

int filter_install(void)
{
	struct sock_filter code[] = {
		CALLS_OF(AUDIT_ARCH_X86_64, 56, 272, X32_CALLS),
		CALLS_OF(AUDIT_ARCH_I386, 120, 310, NO_OTHER_NUMBERS),
		CALLS_OF(AUDIT_ARCH_AARCH64, 220, 97, NO_OTHER_NUMBERS),
		CALLS_OF(AUDIT_ARCH_ARM, 120, 337, NO_OTHER_NUMBERS),
		REFUSE(ENOSYS),
	};
	struct sock_fprog program = {.len = sizeof(code) / sizeof(code[0]), .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}
