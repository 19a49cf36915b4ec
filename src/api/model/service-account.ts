/** Names that have to do with service accounts. */

/** The account of pods that name none; there is one in every namespace. */
export const defaultAccount = 'default'

/**
 * How long the token is to be good that a pod gets in its volume: an hour, and a little more, by which such tokens can be
 * told from others.
 */
export const volumeTokenSeconds = 3607
