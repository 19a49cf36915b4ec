/**
 * Reads the pages of the data file without lmdb: its two meta pages, the records of its trees, and pages by number. The
 * layout matches the lmdb version pinned in package.json (data version 2). Numbers are little-endian.
 */
import { readSync } from 'node:fs'

/** Offset of the data in a page, after the page's header. */
export const pageHeader = 24

const magicAt = 24
const versionAt = 28
const freeTreeAt = 48
const mainTreeAt = 96
const lastPageAt = 144
const transactionAt = 152
const metaBytes = 160

const magic = 0xbeefc0de
const version = 2
const pageSizes = [4096, 8192, 16384, 32768, 65536]

export interface Meta {
  readonly pageSize: number
  readonly lastPage: number
  readonly transaction: number
  readonly free: Tree
  readonly main: Tree
}

/** The record that describes a tree, with its root page and its statistics. */
export interface Tree {
  readonly flags: number
  readonly depth: number
  readonly branches: number
  readonly leaves: number
  readonly overflows: number
  readonly entries: number
  /** The root page. Undefined if the tree is empty. */
  readonly root: number | undefined
}

export const treeBytes = 48
const noPage = 0xffff_ffff_ffff_ffffn

/** Reads the record of a tree at the given offset in a page. */
export function readTree(bytes: Buffer, at: number): Tree {
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branches: wide(bytes, at + 8),
    leaves: wide(bytes, at + 16),
    overflows: wide(bytes, at + 24),
    entries: wide(bytes, at + 32),
    root: bytes.readBigUInt64LE(at + 40) === noPage ? undefined : wide(bytes, at + 40),
  }
}

/** Reads an eight-byte number. Numbers above 2^53 are inexact, but no valid file contains such numbers. */
export function wide(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at)
}

/**
 * Returns the newest meta page. Transactions with even numbers write the first meta page and transactions with odd
 * numbers write the second, so one page is always exactly one transaction older than the other. If this is not the
 * case, the newest meta page is lost and the remaining page describes an outdated state. The function then returns
 * undefined.
 */
export function readMeta(descriptor: number): Meta | undefined {
  const first = readAt(descriptor, 0, Buffer.allocUnsafe(metaBytes))
  const pageSize = first.readUInt32LE(freeTreeAt)
  if (!pageSizes.includes(pageSize)) return undefined
  const pages = [first, readAt(descriptor, pageSize, Buffer.allocUnsafe(metaBytes))]
  if (!pages.every((page, i) => isMeta(page, i, pageSize))) return undefined
  const [even, odd] = pages.map((page) => wide(page, transactionAt)) as [number, number]
  const fresh = even === 0 && odd === 0
  if (!fresh && (even % 2 !== 0 || odd % 2 !== 1 || Math.abs(even - odd) !== 1)) return undefined
  const newest = pages[even > odd ? 0 : 1]!
  return {
    pageSize,
    lastPage: wide(newest, lastPageAt),
    transaction: Math.max(even, odd),
    free: readTree(newest, freeTreeAt),
    main: readTree(newest, mainTreeAt),
  }
}

function isMeta(page: Buffer, index: number, pageSize: number): boolean {
  return (
    wide(page, 0) === index &&
    page.readUInt32LE(magicAt) === magic &&
    (page.readUInt32LE(versionAt) & 0xffff) === version &&
    page.readUInt32LE(freeTreeAt) === pageSize
  )
}

/**
 * Fills the buffer with the bytes of the file from the given position, and with zeros after the end of the file.
 * Returns the buffer.
 */
export function readAt(descriptor: number, position: number, bytes: Buffer): Buffer {
  for (let done = 0; done < bytes.length; ) {
    const readBytes = readSync(descriptor, bytes, done, bytes.length - done, position + done)
    if (readBytes === 0) return bytes.fill(0, done)
    done += readBytes
  }
  return bytes
}

/**
 * Returns the page number in a branch record. The number occupies the six bytes that contain the size and flags of
 * other records.
 */
export function childOf(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at)
}
