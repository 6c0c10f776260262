// SPDX-License-Identifier: GPL-2.0-or-later
#include "confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>

/* Source: seccomp(2), linux/seccomp.h. */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define IF_EQUAL(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_ANY_BIT(value, yes, no) BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, value, yes, no)

#ifdef __x86_64__
#define OUR_MACHINE AUDIT_ARCH_X86_64
#else
#define OUR_MACHINE AUDIT_ARCH_AARCH64
#endif

/* The flags of clone() for namespaces: in a new user namespace a program has all capabilities. */
#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | \
		CLONE_NEWCGROUP)

struct code {
	struct sock_filter at[BPF_MAXINSNS];
	unsigned short count;
};

static void add(struct code *code, const struct sock_filter *more, size_t count)
{
	for (size_t i = 0; i < count; i++)
		code->at[code->count++] = more[i];
}

#define ADD(code, ...)                                                                             \
	add(code, (const struct sock_filter[]){__VA_ARGS__},                                       \
		sizeof((const struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter))

/* Adds the checks of clone() and socket(), by the lower 32 bits of their first argument. */
static void add_argument_checks(struct code *code, const struct calls *calls)
{
	ADD(code, IF_EQUAL(calls->clone, 0, 4), LOAD(args[0]), IF_ANY_BIT(NAMESPACES, 0, 1),
		REFUSE(EPERM), ALLOW);
	ADD(code, IF_EQUAL(calls->socket, 0, 7), LOAD(args[0]), IF_EQUAL(AF_UNIX, 3, 0),
		IF_EQUAL(AF_INET, 2, 0), IF_EQUAL(AF_INET6, 1, 0), IF_EQUAL(AF_NETLINK, 0, 1),
		ALLOW, REFUSE(EAFNOSUPPORT));
}

/* Adds the calls of one architecture; the filter skips this part for calls of another. */
static void add_machine(struct code *code, unsigned int machine, const struct calls *calls)
{
	unsigned short begin;

	ADD(code, LOAD(arch), IF_EQUAL(machine, 1, 0), BPF_STMT(BPF_JMP | BPF_JA, 0));
	begin = code->count;
	ADD(code, LOAD(nr));
	add_argument_checks(code, calls);
	for (size_t i = 0; i < calls->count; i++)
		ADD(code, IF_EQUAL(calls->numbers[i], 0, 1), ALLOW);
	ADD(code, REFUSE(ENOSYS));
	code->at[begin - 1].k = code->count - begin;
}

int filter_install(bool is_32_bit)
{
	static struct code code;
	struct sock_fprog program = {.filter = code.at};

	add_machine(&code, OUR_MACHINE, calls_native());
	if (is_32_bit && calls_i386())
		add_machine(&code, AUDIT_ARCH_I386, calls_i386());
	ADD(&code, REFUSE(ENOSYS));
	program.len = code.count;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		return -errno;
	return 0;
}
