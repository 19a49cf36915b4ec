/**
 * Names of finalizers. They contain a domain, as in `example.com/cleanup`, except for a few standard names. A finalizer
 * names a cleanup task that must be completed before the object can be deleted. The controller responsible for the
 * cleanup removes the finalizer.
 */
import { checkQualifiedName } from './names.ts'
import type { Vendor } from './vendor.ts'

/** Finalizers that tell the garbage collector how to treat the dependents of this object. */
const garbageCollector = ['orphan', 'foregroundDeletion']

/** Checks the format of a finalizer's name. */
export const checkFinalizerForm = checkQualifiedName

/** Checks that a name without a domain is a standard finalizer. */
export function checkFinalizerDomain(name: string, { namespaceFinalizer }: Vendor): string[] {
  if (name.includes('/') || name === namespaceFinalizer || garbageCollector.includes(name)) return []
  return ['name is neither a standard finalizer name nor is it fully qualified']
}
