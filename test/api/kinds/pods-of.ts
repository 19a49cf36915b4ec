/** Minimal valid specs of the kinds that create pods. Tests override individual fields. */
import type { JsonObject } from '../../../src/api/json/json.ts'

export const containers = [{ name: 'c', image: 'img:1' }]

/** Returns a pod template with the label `app: a`. */
export function podsOf(spec: JsonObject = {}, metadata: JsonObject = { labels: { app: 'a' } }): JsonObject {
  return { metadata, spec: { containers, ...spec } }
}

/** Returns a spec whose selector matches the labels of its template. */
export function selecting(spec: JsonObject = {}): JsonObject {
  return { selector: { matchLabels: { app: 'a' } }, template: podsOf(), ...spec }
}

/** Invalid templates and selectors, with the errors that every kind of long-running workload reports. */
export const badTemplates: readonly (readonly [spec: JsonObject, faults: readonly string[]])[] = [
  [{ template: {} }, ['Invalid spec.template.metadata.labels', 'Required spec.template.spec.containers']],
  [{ selector: {} }, ['Invalid spec.selector']],
  [{ selector: { matchLabels: { app: 'b' } } }, ['Invalid spec.template.metadata.labels']],
  [{ template: podsOf({}, { labels: { app: 'a', b: 'c d' } }) }, ['Invalid spec.template.labels']],
  [
    { template: podsOf({}, { labels: { app: 'a' }, annotations: { 'a b': '' } }) },
    ['Invalid spec.template.annotations'],
  ],
  [{ template: podsOf({ restartPolicy: 'Never' }) }, ['NotSupported spec.template.spec.restartPolicy']],
  [{ template: podsOf({ activeDeadlineSeconds: 5 }) }, ['Forbidden spec.template.spec.activeDeadlineSeconds']],
  [
    { template: podsOf({ containers: [{ name: 'A' }] }) },
    ['Invalid spec.template.spec.containers[0].name', 'Required spec.template.spec.containers[0].image'],
  ],
  [
    { template: podsOf({ ephemeralContainers: [{ name: 'e', image: 'i' }] }) },
    ['Forbidden spec.template.spec.ephemeralContainers'],
  ],
]
