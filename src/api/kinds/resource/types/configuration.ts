/** Configuration of devices. Only the driver of a device interprets the configuration. */
import { stringifyJson } from '../../../json/portable-json.ts'
import { child, type FieldError, type FieldPath, invalid, required, tooLong } from '../../../model/field-error.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, inlined, s } from '../../../schema/schema.ts'
import { checkDriverName } from '../../core/types/volumes/storage-systems.ts'
import { maxTextBytes } from './lists.ts'

export const rawExtension = s.any({
  name: 'runtime.RawExtension',
  doc: 'Arbitrary JSON, stored exactly as the client sent it.',
  asSent: true,
})

const opaqueFields = {
  driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the driver that interprets the parameters.' }),
  parameters: field(2, rawExtension, {
    zeroValue: 'write',
    published: 'required',
    doc: 'Driver-specific parameters, as a JSON object. At most 10 KiB.',
  }),
}

const opaque = s.object(opaqueFields, {
  name: 'OpaqueDeviceConfiguration',
  doc: 'Parameters that only the driver interprets.',
  check: checkOpaque,
})

/** Fields of all device configurations. In Protobuf, these fields form a nested message. */
export const configurationFields = { opaque: field(1, opaque, { doc: 'Driver-specific parameters.' }) }

export const classConfiguration = s.object(inlined(1, configurationFields), {
  name: 'DeviceClassConfiguration',
  doc: 'Configuration for devices in a class.',
  check: (value, path) => checkConfiguration(value, path),
})

/** Requires opaque parameters, because no other type of configuration exists. */
export function checkConfiguration({ opaque }: { readonly opaque?: unknown }, path: FieldPath): FieldError[] {
  return opaque === undefined ? [required(child(path, 'opaque'))] : []
}

function checkOpaque(
  { driver = '', parameters }: InferFields<typeof opaqueFields>,
  path: FieldPath,
  context: RuleContext,
): FieldError[] {
  return [
    ...checkDriverName(driver, child(path, 'driver'), context),
    ...checkRaw(parameters, child(path, 'parameters'), { isRequired: true }),
  ]
}

/** Requires a JSON object of limited size. */
export function checkRaw(
  value: unknown,
  path: FieldPath,
  { isRequired }: { readonly isRequired: boolean },
): FieldError[] {
  if (value === undefined || value === null) return isRequired ? [required(path)] : []
  if (Buffer.byteLength(stringifyJson(value)) > maxTextBytes) return [tooLong(path, maxTextBytes)]
  const isObject = typeof value === 'object' && !Array.isArray(value)
  return isObject ? [] : [invalid(path, '<value omitted>', 'must be a JSON object')]
}
