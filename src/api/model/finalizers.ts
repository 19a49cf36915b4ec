/**
 * Names of finalizers: qualified by a domain, as in `example.com/cleanup`, except for a few standard ones. A finalizer
 * names the cleanup to do before an object can be deleted. The controller responsible for the cleanup removes the
 * finalizer.
 */
import { checkQualifiedName } from './names.ts'
import type { Vendor } from './vendor.ts'

/** Finalizers that tell the garbage collector how to treat the dependents of this object. */
const garbageCollector = ['orphan', 'foregroundDeletion']

/** Checks the format of a name. */
export const checkFinalizerForm = checkQualifiedName

/** A name without a domain must be a standard one. */
export function checkFinalizerDomain(name: string, { namespaceFinalizer }: Vendor): string[] {
  if (name.includes('/') || name === namespaceFinalizer || garbageCollector.includes(name)) return []
  return ['name is neither a standard finalizer name nor is it fully qualified']
}
