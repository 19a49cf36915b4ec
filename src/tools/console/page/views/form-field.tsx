/**
 * A form field that depends on the schema: a text, a number, a choice, a list, a map or an object with further fields.
 */
import { useId, useState } from 'preact/hooks'
import { isObject, type Json, type JsonObject, own } from '../../../../api/json/json.ts'
import { type Path, withMember } from '../core/fields.ts'
import { type Ownership, ownersOf } from '../core/ownership.ts'
import type { Schema } from '../core/schema.ts'
import { displayText } from '../core/text.ts'
import { OwnerChip } from '../parts/display.tsx'

export interface FieldContext {
  readonly ownership: Ownership
  readonly readOnly: boolean
  readonly isHidden: (path: Path) => boolean
}

interface FieldProps {
  readonly name: string
  readonly path: Path
  readonly schema: Schema | undefined
  readonly value: Json | undefined
  readonly context: FieldContext
  readonly onChange: (value: Json | undefined) => void
}

export function FormField(props: FieldProps) {
  const { schema, value } = props
  if (isObject(value) || (value === undefined && schema?.type === 'object')) return <MembersField {...props} />
  if (Array.isArray(value) || schema?.type === 'array') return <ListField {...props} />
  return <LeafField {...props} />
}

function Owners({ context, path }: Pick<FieldProps, 'context' | 'path'>) {
  return (
    <span class="field-owners">
      {ownersOf(context.ownership, path).map((owner) => (
        <OwnerChip key={`${owner.manager} ${owner.operation} ${owner.subresource}`} owner={owner} />
      ))}
    </span>
  )
}

function LeafField(props: FieldProps) {
  const { name, schema, context, path, onChange, value } = props
  const id = useId()
  return (
    <div class="form-field">
      <div class="form-label">
        <label for={id}>{displayText(name, 100)}</label>
        <Owners {...{ context, path }} />
        {value !== undefined && !context.readOnly && (
          <button
            type="button"
            class="plain small"
            aria-label={`Remove ${displayText(name, 60)}`}
            onClick={() => onChange(undefined)}
          >
            Remove
          </button>
        )}
      </div>
      <Input {...props} id={id} />
      {schema?.description && <p class="hint">{displayText(schema.description, 400)}</p>}
    </div>
  )
}

function Input({ id, schema, value, context, path, onChange }: FieldProps & { readonly id: string }) {
  const { readOnly } = context
  if (context.isHidden(path)) return <input id={id} value="••••••••" readOnly />
  const type = schema?.type || typeof value
  if (type === 'boolean') return <Choice {...{ id, readOnly, onChange }} words={['true', 'false']} value={value} />
  if ((schema?.enum.length ?? 0) > 0)
    return <Choice {...{ id, readOnly, onChange }} words={schema!.enum} value={value} />
  const text = value === undefined || value === null ? '' : String(value)
  const change = (next: string) => onChange(readValue(next, type, value))
  const shared = { id, readOnly, spellcheck: false, value: shownInput(text) }
  if (text.length > inputLimit) return <input {...shared} readOnly />
  if (text.includes('\n') || text.length > 80)
    return (
      <textarea
        {...shared}
        rows={Math.min(12, text.split('\n').length + 1)}
        onInput={({ currentTarget }) => change(currentTarget.value)}
      />
    )
  return (
    <input
      {...shared}
      inputMode={type === 'integer' || type === 'number' ? 'numeric' : 'text'}
      onInput={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}

/** Maximum text length of a form field. Longer texts can be edited only as YAML. */
const inputLimit = 50_000

function shownInput(text: string): string {
  return text.length > inputLimit ? displayText(text, 200) : text
}

function readValue(text: string, type: string, before: Json | undefined): Json {
  const isNumber = type === 'integer' || type === 'number' || typeof before === 'number'
  return isNumber && /^-?\d{1,15}(?:\.\d+)?$/.test(text) ? Number(text) : text
}

interface ChoiceProps {
  readonly id: string
  readonly words: readonly string[]
  readonly value: Json | undefined
  readonly readOnly: boolean
  readonly onChange: (value: Json | undefined) => void
}

function Choice({ id, words, value, readOnly, onChange }: ChoiceProps) {
  const read = (word: string): Json | undefined => {
    if (word === '') return undefined
    return words[0] === 'true' ? word === 'true' : word
  }
  return (
    <select
      id={id}
      disabled={readOnly}
      value={value === undefined ? '' : String(value)}
      onChange={({ currentTarget }) => onChange(read(currentTarget.value))}
    >
      <option value="">not set</option>
      {words.map((word) => (
        <option key={word}>{displayText(word, 100)}</option>
      ))}
    </select>
  )
}

/** Edits the members of an object or map: one field per existing member, and a button to add others. */
function MembersField({ name, path, schema, value, context, onChange }: FieldProps) {
  const object = isObject(value) ? value : {}
  const names = Object.keys(object)
  const change = (member: string, next: Json | undefined) => onChange(withMember(object, member, next))
  return (
    <details class="form-group" open={path.length < 3 && names.length <= 40}>
      <summary>
        <span>{displayText(name, 100)}</span>
        <span class="sub">
          {names.length === 0 ? 'not set' : `${names.length} ${names.length === 1 ? 'field' : 'fields'}`}
        </span>
        <Owners {...{ context, path }} />
      </summary>
      {schema?.description && <p class="hint">{displayText(schema.description, 400)}</p>}
      {names.slice(0, 200).map((member) => (
        <FormField
          key={member}
          {...{ name: member, context }}
          path={[...path, { member }]}
          schema={schema?.member(member)}
          value={own(object, member)}
          onChange={(next) => change(member, next)}
        />
      ))}
      {!context.readOnly && (
        <AddMember schema={schema} object={object} onAdd={(member, first) => change(member, first)} />
      )}
    </details>
  )
}

interface AddMemberProps {
  readonly schema: Schema | undefined
  readonly object: JsonObject
  readonly onAdd: (member: string, value: Json) => void
}

function AddMember({ schema, object, onAdd }: AddMemberProps) {
  const [key, setKey] = useState('')
  const id = useId()
  const absent = (schema?.properties ?? []).filter((name) => !Object.hasOwn(object, name))
  if (absent.length > 0)
    return (
      <div class="add-field">
        <label for={id}>Add a field</label>
        <select
          id={id}
          value=""
          onChange={({ currentTarget }) => onAdd(currentTarget.value, emptyOf(schema?.member(currentTarget.value)))}
        >
          <option value="">…</option>
          {absent.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
    )
  if (schema?.values === undefined && (schema?.properties.length ?? 0) > 0) return null
  const add = () => {
    if (key === '' || Object.hasOwn(object, key)) return
    onAdd(key, emptyOf(schema?.values))
    setKey('')
  }
  return (
    <div class="add-field">
      <label for={id}>Add a key</label>
      <input
        id={id}
        value={key}
        spellcheck={false}
        onInput={({ currentTarget }) => setKey(currentTarget.value)}
        onKeyDown={(event) => event.key === 'Enter' && add()}
      />
      <button type="button" onClick={add} disabled={key === ''}>
        Add
      </button>
    </div>
  )
}

function ListField({ name, path, schema, value, context, onChange }: FieldProps) {
  const list = Array.isArray(value) ? value : []
  const replace = (index: number, next: Json | undefined) =>
    onChange(list.flatMap((each, i) => (i === index ? (next === undefined ? [] : [next]) : [each])))
  return (
    <details class="form-group" open={path.length < 3 && list.length <= 10}>
      <summary>
        <span>{displayText(name, 100)}</span>
        <span class="sub">{list.length === 1 ? '1 element' : `${list.length} elements`}</span>
        <Owners {...{ context, path }} />
      </summary>
      {schema?.description && <p class="hint">{displayText(schema.description, 400)}</p>}
      {list.slice(0, 100).map((element, i) => (
        <FormField
          // The index is the only stable key of a list element while its content is being edited.
          key={i}
          name={titleOf(element, schema, i)}
          path={[...path, ...stepsTo(element, schema)]}
          schema={schema?.items}
          context={context}
          value={element}
          onChange={(next) => replace(i, next)}
        />
      ))}
      {!context.readOnly && (
        <div class="toolbar">
          <button type="button" onClick={() => onChange([...list, emptyOf(schema?.items)])}>
            Add an element
          </button>
          {list.length > 0 && (
            <button type="button" onClick={() => onChange(list.slice(0, -1))}>
              Remove the last
            </button>
          )}
        </div>
      )}
    </details>
  )
}

function titleOf(element: Json, schema: Schema | undefined, index: number): string {
  const [key] = schema?.listKeys ?? []
  const elementName = isObject(element) ? own(element, key ?? 'name') : undefined
  return typeof elementName === 'string' && elementName !== '' ? elementName : String(index + 1)
}

function stepsTo(element: Json, schema: Schema | undefined): Path {
  if (schema?.listType !== 'map' || !isObject(element)) return []
  const keys = schema.listKeys.flatMap((name) => {
    const value = own(element, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  return keys.length === 0 ? [] : [{ keys: Object.fromEntries(keys) }]
}

function emptyOf(schema: Schema | undefined): Json {
  if (schema?.type === 'object') return {}
  if (schema?.type === 'array') return []
  if (schema?.type === 'boolean') return false
  return schema?.type === 'integer' || schema?.type === 'number' ? 0 : ''
}
