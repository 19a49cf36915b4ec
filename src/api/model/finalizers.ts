/**
 * Names of finalizers: qualified by a domain, as in `example.com/cleanup`, but for a few that everybody knows. They say
 * what must be cleaned up before an object may go; each is removed by whoever is responsible for it.
 */
import { checkQualifiedName } from './names.ts'
import type { Vendor } from './vendor.ts'

/** These two tell the garbage collector what to do with the objects that this one owns. */
const garbageCollector = ['orphan', 'foregroundDeletion']

/** What is wrong with the form of a name. */
export const checkFinalizerForm = checkQualifiedName

/** A name without a domain is one of those that everybody knows. */
export function checkFinalizerDomain(name: string, { namespaceFinalizer }: Vendor): string[] {
  if (name.includes('/') || name === namespaceFinalizer || garbageCollector.includes(name)) return []
  return ['name is neither a standard finalizer name nor is it fully qualified']
}
