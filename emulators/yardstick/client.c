/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "floor.h"

#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "serprog/codec.h"
#include "serprog/listener.h"

#define READ_LEN_WANTED 65536
#define SPIOP_HEADER_BYTES 7
#define OPERATION_BYTES_MAX (SPIOP_HEADER_BYTES + CLIENT_COMMAND_BYTES_MAX)
#define OPERATIONS_MAX 2

/* The device has no reply to send now, so it reads at once. So send() does not block for long. */
static int send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len > 0) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

		if (sent < 0)
			return -errno;
		bytes += sent;
		len -= (size_t)sent;
	}
	return 0;
}

/* Receives acknowledgements and the bytes after them in one call, into two buffers. */
static int receive_all(int fd, uint8_t *first, size_t first_len, uint8_t *rest, size_t rest_len)
{
	struct iovec parts[] = {{first, first_len}, {rest, rest_len}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = rest_len > 0 ? 2 : 1};
	ssize_t got = recvmsg(fd, &message, MSG_WAITALL);

	if (got < 0)
		return -errno;
	return (size_t)got == first_len + rest_len ? 0 : -ECONNRESET;
}

/* Sends @request, takes an ACK for each of its @operations, and then the bytes of @answer. */
static int exchange(int fd, const uint8_t *request, size_t request_len, size_t operations,
	uint8_t *answer, size_t answer_len)
{
	uint8_t first[OPERATIONS_MAX];
	int error = send_all(fd, request, request_len);

	if (!error)
		error = receive_all(fd, first, operations, answer, answer_len);
	for (size_t i = 0; !error && i < operations; i++)
		if (first[i] != SERPROG_ACK)
			error = -EPROTO;
	return error;
}

/* Synchronises by SYNCNOP, the only request that is answered with a NAK and an ACK. */
static int synchronise(int fd)
{
	const uint8_t request = SERPROG_SYNCNOP;
	uint8_t answer[2];
	int error = send_all(fd, &request, 1);

	if (!error)
		error = receive_all(fd, answer, sizeof(answer), NULL, 0);
	if (!error && (answer[0] != SERPROG_NAK || answer[1] != SERPROG_ACK))
		error = -EPROTO;
	return error;
}

/* Asks for a number of @len bytes. */
static int ask(struct client *client, uint8_t query, size_t len, uint32_t *number)
{
	uint8_t answer[3] = {0};
	int error = exchange(client->fd, &query, 1, 1, answer, len);

	if (!error)
		*number = (uint32_t)(answer[0] | answer[1] << 8 | answer[2] << 16);
	return error;
}

/* If the device answers that its longest read is 0, any length of 24 bits is allowed. */
static int ask_limits(struct client *client)
{
	int error = ask(client, SERPROG_Q_RDNMAXLEN, 3, &client->read_len_max);

	if (error)
		return error;
	if (client->read_len_max == 0 || client->read_len_max > READ_LEN_WANTED)
		client->read_len_max = READ_LEN_WANTED;
	return ask(client, SERPROG_Q_SERBUF, 2, &client->serial_buffer_bytes);
}

static int open_link(const struct sockaddr_in *address)
{
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) == 0 &&
		connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0)
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int client_init(struct client *client, const char *target)
{
	struct sockaddr_in address;
	int error = listener_parse_tcp(target, &address);

	if (error || address.sin_port == 0)
		return -EINVAL;
	client->fd = open_link(&address);
	if (client->fd < 0)
		return client->fd;
	error = synchronise(client->fd);
	if (!error)
		error = ask_limits(client);
	if (error)
		client_deinit(client);
	return error;
}

void client_deinit(struct client *client)
{
	close(client->fd);
	client->fd = -1;
}

static size_t put_operation(
	uint8_t *request, const uint8_t *command, size_t command_len, size_t reply_len)
{
	request[0] = SERPROG_O_SPIOP;
	serprog_put_number(request + 1, (uint32_t)command_len, 3);
	serprog_put_number(request + 4, (uint32_t)reply_len, 3);
	memcpy(request + SPIOP_HEADER_BYTES, command, command_len);
	return SPIOP_HEADER_BYTES + command_len;
}

int client_transfer(struct client *client, const uint8_t *command, size_t command_len,
	uint8_t *reply, size_t reply_len)
{
	uint8_t request[OPERATION_BYTES_MAX];

	assert(command_len <= CLIENT_COMMAND_BYTES_MAX);
	return exchange(client->fd, request,
		put_operation(request, command, command_len, reply_len), 1, reply, reply_len);
}

int client_transfer_after(
	struct client *client, uint8_t first, const uint8_t *command, size_t command_len)
{
	uint8_t request[2 * OPERATION_BYTES_MAX];
	size_t len = put_operation(request, &first, 1, 0);
	int error;

	assert(command_len <= CLIENT_COMMAND_BYTES_MAX);
	if (len + SPIOP_HEADER_BYTES + command_len > client->serial_buffer_bytes) {
		error = client_transfer(client, &first, 1, NULL, 0);
		return error ? error : client_transfer(client, command, command_len, NULL, 0);
	}
	len += put_operation(request + len, command, command_len, 0);
	return exchange(client->fd, request, len, 2, NULL, 0);
}
