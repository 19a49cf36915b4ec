/** Names and limits of service accounts. */

/** The service account of pods that do not specify one. Every namespace has this account. */
export const defaultAccount = 'default'

/**
 * Lifetime in seconds of the token in a pod's volume. It is slightly more than an hour so that such tokens can be
 * distinguished from other tokens.
 */
export const volumeTokenSeconds = 3607
