/** Limits of connections of confined commands: name, number, unit, reason. */

/** The port on loopback, inside, where a command finds its proxy: one that programs leave alone. */
export const HOSTS_PORT = 4_128
/** Connections of one command at a time: package managers open a few dozen. */
export const HOST_CONNECTIONS = 128
/** Connections of all commands of a home at a time: each is two descriptors of the daemon. */
export const HOST_CONNECTIONS_ALL = 1_024
/** Bytes of what a client asks the proxy before it is answered: names and a few headers. */
export const HOST_HEADER_BYTES = 8 * 1024
/** Milliseconds to have asked: a program writes it at once. */
export const HOST_HEADER_MS = 10_000
/** Bytes in which a client has to say its hello to a server of TLS; 2,000 are usual. */
export const HOST_HELLO_BYTES = 32 * 1024
/** Milliseconds from the answer of the proxy to that hello. */
export const HOST_HELLO_MS = 10_000
/** Milliseconds for the addresses of a name. */
export const HOST_LOOKUP_MS = 5_000
/** Addresses of a name that are tried in turn. */
export const HOST_DIALS = 3
/** Milliseconds for one of them to answer. */
export const HOST_DIAL_MS = 10_000
/** Milliseconds without a byte in either direction: a server may count objects for minutes. */
export const HOST_IDLE_MS = 600_000
/** Mebibytes of the memory of Node in the relay, which only moves bytes. */
export const RELAY_MEMORY_MB = 64
/** Refusals that a relay writes to the errors of its command: each once, a loop not for ever. */
export const RELAY_TELLS = 20
