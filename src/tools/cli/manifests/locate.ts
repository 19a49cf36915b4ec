/** Locates fields in the text of an object, for error messages: `spec.ports[0].name` becomes a line and a column. */
import { locateYamlValue, type TextPosition } from '../../../api/codec/yaml-location.ts'
import type { Origin } from './manifest.ts'

/** Returns the position of the field or of its closest existing parent, or undefined if no parent exists. */
export function locate(origin: Origin, field: string): TextPosition | undefined {
  return locateYamlValue(origin.text, [...origin.path, ...stepsOf(field)], origin.document)
}

/** Splits `spec.ports[0].name` into `spec`, `ports`, 0, `name`. In `data[a.b]`, the brackets contain the key. */
function stepsOf(field: string): (string | number)[] {
  const steps = field.matchAll(/\[([^\]]*)\]|([^.[\]]+)/g)
  return [...steps].map(([, key, name]) => (key === undefined ? name! : /^\d+$/.test(key) ? Number(key) : key))
}
