/** Constants of service accounts. */

/** The account of pods that do not name one. Every namespace has it. */
export const defaultAccount = 'default'

/**
 * Lifetime in seconds of the token in a pod's volume: slightly more than an hour, which distinguishes such tokens from
 * others.
 */
export const volumeTokenSeconds = 3607
