/**
 * Shows cards for kinds that deserve more than a summary: the containers of a Pod, or the data keys of a ConfigMap or
 * Secret.
 */
import { isObject, type Json } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { type ContainerSummary, containersOf, summaryOf } from '../core/object-summary.ts'
import { displayText, shortBytes } from '../core/text.ts'
import { Card, Chip } from '../parts/display.tsx'
import { type PlainRow, PlainTable } from '../parts/plain-table.tsx'
import { isHidden, type ObjectView } from './object-view.ts'

export function Summary({ view: { type, object } }: { readonly view: ObjectView }) {
  const rows = summaryOf(type, object)
  if (rows.length === 0) return null
  return (
    <Card title="Summary">
      <dl class="facts">
        {rows.map(([label, text]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{displayText(text, 500)}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

export function Containers({ view: { type, object } }: { readonly view: ObjectView }) {
  if (type.group !== '' || type.plural !== 'pods') return null
  const containers = containersOf(object)
  return (
    <Card title="Containers" wide>
      <PlainTable
        label="Containers"
        columns={['Container', 'State', 'Restarts', 'Image']}
        rows={containers.map(containerRow)}
      />
    </Card>
  )
}

function containerRow({ name, role, image, state, isHealthy, restarts }: ContainerSummary): PlainRow {
  return {
    key: `${role}/${name}`,
    cells: [
      role === 'main' ? displayText(name, 100) : `${displayText(name, 100)} (${role})`,
      <Chip tone={isHealthy ? 'good' : 'warn'}>{displayText(state, 100)}</Chip>,
      String(restarts),
      displayText(image, 300),
    ],
  }
}

const maxKeys = 100

/**
 * Shows the keys of a ConfigMap or Secret with their sizes. The values of a Secret are hidden until the user reveals
 * them.
 */
export function DataKeys({ view }: { readonly view: ObjectView }) {
  const { type, object, secrecy } = view
  if (type.group !== '' || (type.plural !== 'configmaps' && type.plural !== 'secrets')) return null
  const entries = dataOf(object)
  return (
    <Card
      title="Data"
      actions={
        secrecy !== undefined &&
        !secrecy.isRevealed && (
          <button type="button" onClick={secrecy.reveal}>
            Show the secret values
          </button>
        )
      }
    >
      {entries.length === 0 && <p class="hint">No keys.</p>}
      <dl class="facts">
        {entries.slice(0, maxKeys).map(({ key, bytes, text, field }) => (
          <div key={`${field}/${key}`}>
            <dt>
              {displayText(key, 253)} <span class="sub">{shortBytes(bytes)}</span>
            </dt>
            <dd>{isHidden(view, [{ member: field }, { member: key }]) ? '••••••••' : displayText(text, 300)}</dd>
          </div>
        ))}
      </dl>
      {entries.length > maxKeys && <p class="hint">{entries.length - maxKeys} more</p>}
    </Card>
  )
}

interface DataEntry {
  readonly field: 'data' | 'binaryData'
  readonly key: string
  readonly bytes: number
  readonly text: string
}

function dataOf({ kind, data, binaryData }: ApiObject): DataEntry[] {
  return [
    ...entriesOf('data', data as Json | undefined, kind === 'Secret' ? decodeBase64 : encodeText),
    ...entriesOf('binaryData', binaryData as Json | undefined, decodeBase64),
  ]
}

type Decode = (text: string) => Uint8Array

function entriesOf(field: DataEntry['field'], data: Json | undefined, decode: Decode): DataEntry[] {
  if (!isObject(data)) return []
  return Object.entries(data).map(([key, value]) => {
    const bytes = decode(String(value))
    return { field, key, bytes: bytes.length, text: readable(bytes) }
  })
}

function encodeText(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function decodeBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return new Uint8Array()
  }
}

function readable(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes).trimEnd()
  } catch {
    return 'binary data'
  }
}
