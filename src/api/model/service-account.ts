/** Constants of service accounts. */

/** The account of pods that name none. Every namespace has it. */
export const defaultAccount = 'default'

/**
 * Lifetime of the token in a pod's volume in seconds: slightly more than an hour, which distinguishes such tokens from
 * others.
 */
export const volumeTokenSeconds = 3607
