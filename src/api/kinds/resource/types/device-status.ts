/** AllocatedDeviceStatus is the status of an allocated device, as reported by the driver. */

import { child, type FieldError, type FieldPath, invalid, tooLong, tooMany } from '../../../model/field-error.ts'
import { parseRange } from '../../../model/ip-range.ts'
import { checkCanonicalIp } from '../../../model/strict-ip.ts'
import type { RuleContext } from '../../../schema/context.ts'
import { field, type InferFields, s } from '../../../schema/schema.ts'
import { checkDriverName } from '../../core/types/volumes/storage-systems.ts'
import { checkConditions, condition } from '../../meta/condition.ts'
import { checkRaw, rawExtension } from './configuration.ts'
import { checkList, checkName, checkPoolName, checkShareId } from './lists.ts'

const networkFields = {
  interfaceName: field(1, s.string(), { doc: 'Name of the network interface in the pod. At most 256 bytes.' }),
  ips: field(2, s.list(s.string()), {
    doc: 'IP addresses of the network interface, in CIDR notation. At most 16 addresses.',
  }),
  hardwareAddress: field(3, s.string(), { doc: 'Hardware address of the network interface. At most 128 bytes.' }),
}

const networkData = s.object(networkFields, {
  name: 'NetworkDeviceData',
  doc: 'Network information about a device.',
  check: checkNetwork,
})

const statusFields = {
  driver: field(1, s.string(), { zeroValue: 'write', doc: 'Name of the driver that manages the device.' }),
  pool: field(2, s.string(), { zeroValue: 'write', doc: 'Name of the pool that contains the device.' }),
  device: field(3, s.string(), { zeroValue: 'write', doc: 'Name of the device within its pool.' }),
  conditions: field(4, s.list(condition, { list: 'map', keys: ['type'] }), {
    doc: 'Conditions of the device. At most 8 conditions.',
  }),
  data: field(5, rawExtension, { doc: 'Driver-specific data about the device, as a JSON object.' }),
  networkData: field(6, networkData, { doc: 'Network information about the device.' }),
  shareID: field(7, s.string(), {
    zeroValue: 'keep',
    since: '1.34',
    gate: 'DRAConsumableCapacity',
    doc: 'UUID of the device share. Set if the device allows multiple allocations.',
  }),
}

export type DeviceStatus = InferFields<typeof statusFields>

export const deviceStatus = s.object(statusFields, {
  name: 'AllocatedDeviceStatus',
  doc: 'Status of an allocated device, reported by its driver.',
})

/** Returns a key that identifies a device, or a share of a device. */
export function deviceKey({ driver, pool, device, shareID }: Omit<DeviceStatus, 'conditions'>): string {
  return JSON.stringify([driver, pool, device, shareID ?? ''])
}

const maxConditions = 8
const maxIps = 16
const maxInterfaceBytes = 256
const maxHardwareBytes = 128

export function checkDeviceStatus(
  value: DeviceStatus,
  { allocated, path }: { readonly allocated: ReadonlySet<string>; readonly path: FieldPath },
  context: RuleContext,
): FieldError[] {
  const { driver = '', pool = '', device = '', shareID, conditions: all = [], data } = value
  const place = child(path, 'conditions')
  return [
    ...checkDriverName(driver, child(path, 'driver'), context),
    ...checkPoolName(pool, child(path, 'pool')),
    ...checkName(device, child(path, 'device')),
    ...checkShareId(shareID, path),
    ...(allocated.has(deviceKey(value))
      ? []
      : [invalid(path, { driver, pool, device, shareID }, 'must be a device that is allocated to the claim')]),
    ...(all.length > maxConditions ? [tooMany(place, all.length, maxConditions)] : checkConditions(all, place)),
    ...checkRaw(data, child(path, 'data'), { isRequired: false }),
  ]
}

function checkNetwork(value: InferFields<typeof networkFields>, path: FieldPath): FieldError[] {
  const limits = { interfaceName: maxInterfaceBytes, hardwareAddress: maxHardwareBytes } as const
  return [
    ...(['interfaceName', 'hardwareAddress'] as const)
      .filter((name) => Buffer.byteLength(value[name] ?? '') > limits[name])
      .map((name) => tooLong(child(path, name), limits[name])),
    ...checkList(value.ips, child(path, 'ips'), { max: maxIps, key: (ip) => ip, check: checkInterfaceAddress }),
  ]
}

/**
 * Validates an address with a prefix length, such as `192.0.2.1/24`. Unlike a range, the address may have bits beyond
 * the prefix.
 */
function checkInterfaceAddress(text: string, path: FieldPath): FieldError[] {
  const [address = '', bits = ''] = text.split('/')
  if (parseRange(text) === undefined) return [invalid(path, text, 'must be an address in CIDR notation')]
  const isCanonical = checkCanonicalIp(address).length === 0 && String(Number(bits)) === bits
  return isCanonical ? [] : [invalid(path, text, 'must be in canonical form')]
}
