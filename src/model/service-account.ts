/** Names that have to do with service accounts. */

/** The account of pods that name none; there is one in every namespace. */
export const defaultAccount = 'default'
