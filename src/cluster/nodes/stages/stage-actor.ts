/**
 * Names of the users on whose behalf stages from the API act: the authors of the Stage objects, and users whom these
 * authors impersonate. No node can have such a name.
 */

const prefix = '/author '

/** Returns the name of the actor for an author (see `kwok/stage-author.ts`). */
export function authorActor(author: string): string {
  return prefix + author
}

/** Returns the name of an actor that impersonates another user. */
export function impersonatingActor(actor: string, username: string): string {
  return `${actor}\0${username}`
}

/** Returns the author, and the user whom the author impersonates. Returns undefined for any other name. */
export function readActor(name: string): { readonly author: string; readonly impersonates?: string } | undefined {
  if (!name.startsWith(prefix)) return undefined
  const [author = '', impersonates] = name.slice(prefix.length).split('\0', 2)
  return { author, ...(impersonates === undefined ? {} : { impersonates }) }
}
