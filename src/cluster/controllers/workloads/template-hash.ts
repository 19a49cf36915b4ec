/**
 * Short names for contents: the suffix of a ReplicaSet's name, and of a ControllerRevision's. Equal contents have equal
 * hashes, in whatever order their members are; contents that differ may share one, for which there is a collision count
 * that is hashed too. The value is this server's own: nothing but the loop that made it may conclude anything from it.
 */
import { isObject } from '../../../api/json/json.ts'

/** 32-bit FNV-1a over the content in a fixed form, written with letters that spell no words. */
export function contentHash(content: unknown, collisions: number | undefined): string {
  const hash = new Fnv32()
  hash.addValue(content)
  if (collisions !== undefined) hash.addText(`\0${collisions}`)
  return speakable(String(hash.value))
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

function speakable(digits: string): string {
  return Array.from(digits, (digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}

class Fnv32 {
  value = 0x811c9dc5

  addText(text: string): void {
    for (const byte of Buffer.from(text)) this.value = Math.imul(this.value ^ byte, 0x01000193) >>> 0
  }

  /** Members in the order of their names; those without a value do not count. */
  addValue(value: unknown): void {
    if (Array.isArray(value)) {
      this.addText('[')
      for (const item of value) this.addValue(item)
      this.addText(']')
    } else if (isObject(value)) {
      this.addText('{')
      for (const key of Object.keys(value).sort()) {
        if (value[key] === undefined) continue
        this.addText(`${JSON.stringify(key)}:`)
        this.addValue(value[key])
      }
      this.addText('}')
    } else this.addText(`${JSON.stringify(value)},`)
  }
}
