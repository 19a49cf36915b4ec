/**
 * Names of finalizers. They contain a domain, as in `example.com/cleanup`, except for a few standard names. A finalizer
 * names a cleanup task that must be completed before the object can be removed. The controller that is responsible for
 * the cleanup removes the finalizer.
 */
import { checkQualifiedName } from './names.ts'
import type { Vendor } from './vendor.ts'

/** Finalizers that determine how the garbage collector treats the dependents of an object. */
const garbageCollector = ['orphan', 'foregroundDeletion']

/** Validates the format of a finalizer's name. */
export const checkFinalizerForm = checkQualifiedName

/** Requires a finalizer name without a domain to be one of the standard names. */
export function checkFinalizerDomain(name: string, { namespaceFinalizer }: Vendor): string[] {
  if (name.includes('/') || name === namespaceFinalizer || garbageCollector.includes(name)) return []
  return ['name is neither a standard finalizer name nor is it fully qualified']
}
