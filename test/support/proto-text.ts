/**
 * Converts the recorded facts to `.proto` text for an independent compiler. The text contains all messages that the
 * given messages need.
 */
import { type FieldType, fieldsOf, type MessageField } from './protobuf-facts.ts'

/** Returns the name of a message in `.proto` text: `core.v1.PodSpec` becomes `core_v1_PodSpec`. */
export function protoName(message: string): string {
  return message.replaceAll('.', '_')
}

export function protoText(messages: readonly string[]): string {
  const knownNames = new Set(messages)
  const texts: string[] = []
  for (const message of knownNames) {
    const fields = fieldsOf(message)
    for (const { type } of fields) if (type.message !== undefined) knownNames.add(type.message)
    texts.push(`message ${protoName(message)} {\n${fields.map(fieldText).join('')}}\n`)
  }
  return `syntax = "proto2";\nmessage Strings {\n  repeated string items = 1;\n}\n${texts.join('')}`
}

function fieldText({ name, number, type }: MessageField): string {
  const label = type.shape === 'map' ? '' : type.shape === 'list' && !type.wrapped ? 'repeated ' : 'optional '
  return `  ${label}${typeText(type)} ${name.replaceAll(/\W/g, '_')} = ${number};\n`
}

function typeText({ kind, message, shape, wrapped }: FieldType): string {
  const value = wrapped ? 'Strings' : message === undefined ? kind : protoName(message)
  return shape === 'map' ? `map<string, ${value}>` : value
}
