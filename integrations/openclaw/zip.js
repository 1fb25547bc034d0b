// A zip archive in memory, bounded. The same files give the same bytes.
import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";

const deflate = promisify(deflateRaw);
const UTF8_NAMES = 0x0800;
const DEFLATED = 8;
const VERSION = 20;
/** The first of January 1980, which is where the format's days begin. */
const DAY = 0x0021;
/** More would need the format's extension. */
const MAX_FILES = 65_000;

const CRCS = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});

/**
 * Packs files, one at a time as they come.
 *
 * @param {AsyncIterable<{name: string, data: Buffer}>} files
 * @param {number} maxBytes
 * @returns {Promise<{data: Buffer, count: number}>} rejects with a RangeError where the archive becomes larger
 */
export async function zip(files, maxBytes) {
  /** @type {Buffer[]} */
  const parts = [];
  /** @type {Buffer[]} */
  const index = [];
  let size = 0;
  for await (const { name, data } of files) {
    const packed = await deflate(data);
    const title = Buffer.from(name, "utf8");
    const about = Buffer.alloc(26);
    about.writeUInt16LE(VERSION, 0);
    about.writeUInt16LE(UTF8_NAMES, 2);
    about.writeUInt16LE(DEFLATED, 4);
    about.writeUInt16LE(DAY, 8);
    about.writeUInt32LE(crc32(data), 10);
    about.writeUInt32LE(packed.length, 14);
    about.writeUInt32LE(data.length, 18);
    about.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(size, 10);
    index.push(Buffer.concat([Buffer.from("PK\x01\x02"), uint16(VERSION), about, place, title]));
    const entry = Buffer.concat([Buffer.from("PK\x03\x04"), about, title, packed]);
    parts.push(entry);
    size += entry.length;
    if (size > maxBytes || index.length > MAX_FILES) throw new RangeError(`it has more than ${maxBytes} bytes, packed`);
  }
  const listing = Buffer.concat(index);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(index.length, 4);
  end.writeUInt16LE(index.length, 6);
  end.writeUInt32LE(listing.length, 8);
  end.writeUInt32LE(size, 12);
  return { data: Buffer.concat([...parts, listing, Buffer.from("PK\x05\x06"), end]), count: index.length };
}

/** @param {number} value */
function uint16(value) {
  return Buffer.from([value & 0xff, value >>> 8]);
}

/** @param {Buffer} data */
function crc32(data) {
  let crc = 0xffffffff;
  for (const byte of data) crc = (crc >>> 8) ^ /** @type {number} */ (CRCS[(crc ^ byte) & 0xff]);
  return (crc ^ 0xffffffff) >>> 0;
}
