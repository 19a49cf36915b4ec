/**
 * The two annotations of a Service that request topology-aware routing. Since Kubernetes 1.27, `topology-mode` replaces
 * the other annotation.
 */
import { at, type FieldError, invalid } from '../../../model/field-error.ts'
import type { ObjectMeta } from '../../../model/object.ts'
import { vendorKey } from '../../../model/vendor.ts'
import { isSince, type RuleContext } from '../../../schema/context.ts'

/** Returns the keys of the old and the new annotation for topology-aware routing. */
export function topologyAnnotations({ vendor }: RuleContext): { readonly hints: string; readonly mode: string } {
  return {
    hints: vendorKey(vendor, 'topology-aware-hints', 'service'),
    mode: vendorKey(vendor, 'topology-mode', 'service'),
  }
}

/** Requires equal values if both annotations are set, because older components read only the deprecated annotation. */
export function checkTopologyAnnotations({ annotations = {} }: ObjectMeta, context: RuleContext): FieldError[] {
  if (!isSince('1.27', context)) return []
  const { hints, mode } = topologyAnnotations(context)
  const { [hints]: older, [mode]: newer } = annotations
  if (older === undefined || newer === undefined || older === newer) return []
  const path = at('metadata.annotations', mode)
  return [invalid(path, newer, `must match annotations[${hints}] when both are specified`)]
}
