//! Huffman codes as SZ3 stores them: the tree node by node, then code words, most significant bit first.
//!
//! ```text
//! for each symbol:
//!     node = the root
//!     until node is a leaf: node = its left child if the next bit is 0, else its right one
//!     the symbol is the leaf's
//! ```
//!
//! The trick: a table by the next [`MAX_TABLE_BITS`] bits tells the node that they lead to, and how many of them the
//! way takes. Most words are no longer, so most symbols cost one lookup and no branch for each bit. Longer words go
//! down the tree from the node where the table ends.
//!
//! It is right for any tree: an entry is filled by walking the tree, and its bits are taken only if they are there.
//! Every step takes a bit of the stream, so that the stream bounds the work.

use super::defect::Defect;
use super::reader::Reader;

/// The most bits by which the table is indexed: it takes 32 KiB then.
const MAX_TABLE_BITS: u32 = 11;

/// A code by its tree. Every node except the root is the child of exactly one node before it.
pub(super) struct Code {
    nodes: Vec<Node>,
    /// Entries by the next `table_bits` bits of a stream.
    table: Vec<Entry>,
    table_bits: u32,
}

#[derive(Clone, Copy)]
enum Node {
    Leaf(u32),
    Branch([u32; 2]),
}

/// Where the next bits lead.
#[derive(Clone, Copy)]
struct Entry {
    /// The node that they reach: a leaf, or a branch if the word is longer than the table's bits.
    node: Node,
    /// The number of bits that lead there.
    bits: u32,
}

impl Code {
    /// Reads the code of `count` symbols, at least one, each of which must be below `alphabet`.
    ///
    /// Memory is in proportion to the nodes. Their number is checked against `count` and `alphabet`, and they must be
    /// present.
    pub(super) fn parse(reader: &mut Reader<'_>, count: u64, alphabet: u32) -> Result<Self, Defect> {
        const PART: &str = "Huffman tree";
        let offset = i32::from_le_bytes(reader.array(PART)?);
        let node_count = u32::from_be_bytes(reader.array(PART)?);
        let half_alphabet = u32::from_be_bytes(reader.array(PART)?);
        let kind = reader.u8(PART)?;
        if kind != 0 {
            return Err(Defect::Unsupported("Huffman tree of kind", kind.into()));
        }
        let max_leaves = count.min(alphabet.into());
        if node_count % 2 == 0 || u64::from(node_count.div_ceil(2)) > max_leaves {
            return Err(Defect::Field("number of nodes", node_count.into()));
        }
        let stored = Stored::read(reader, node_count)?;
        let nodes = stored.nodes(offset, alphabet)?;
        // SZ3 writes half of the alphabet, which ends with its greatest symbol and is rounded up to even.
        if stored.max_symbol() / 2 + 1 != half_alphabet {
            return Err(Defect::Field("half of the alphabet", half_alphabet.into()));
        }
        Self::new(nodes)
    }

    fn new(nodes: Vec<Node>) -> Result<Self, Defect> {
        // The width of a code of fixed width, and one bit more.
        let table_bits = (usize::BITS - nodes.len().leading_zeros()).clamp(1, MAX_TABLE_BITS);
        let root = Entry { node: *nodes.first().ok_or(Defect::Node(0))?, bits: 0 };
        let mut table = vec![root; 1 << table_bits];
        fill(&mut table, root, &nodes);
        Ok(Self { nodes, table, table_bits })
    }
}

/// Fills the part of a table whose indices all begin with the bits that lead to `entry`.
///
/// The first half of the part goes on with a 0, the second with a 1.
fn fill(table: &mut [Entry], entry: Entry, nodes: &[Node]) {
    let [zero, one] = match entry.node {
        Node::Branch(children) if table.len() > 1 => children,
        _ => return table.fill(entry),
    };
    let (zeros, ones) = table.split_at_mut(table.len() / 2);
    for (half, child) in [(zeros, zero), (ones, one)] {
        // Children were checked to be nodes.
        if let Some(&node) = nodes.get(child as usize) {
            fill(half, Entry { node, bits: entry.bits + 1 }, nodes);
        }
    }
}

/// The four arrays of a tree, as they are stored.
struct Stored<'a> {
    children: Children<'a>,
    symbols: &'a [[u8; 4]],
    leaves: &'a [u8],
}

/// The left and the right child of each node, in integers as wide as the number of nodes needs.
enum Children<'a> {
    Bytes([&'a [[u8; 1]]; 2]),
    Words([&'a [[u8; 2]]; 2]),
    Longs([&'a [[u8; 4]]; 2]),
}

impl<'a> Stored<'a> {
    fn read(reader: &mut Reader<'a>, count: u32) -> Result<Self, Defect> {
        const PART: &str = "Huffman tree";
        let count = u64::from(count);
        let children = match count {
            0..=0x100 => Children::Bytes([reader.chunks(count, PART)?, reader.chunks(count, PART)?]),
            0x101..=0x1_0000 => Children::Words([reader.chunks(count, PART)?, reader.chunks(count, PART)?]),
            _ => Children::Longs([reader.chunks(count, PART)?, reader.chunks(count, PART)?]),
        };
        Ok(Self { children, symbols: reader.chunks(count, PART)?, leaves: reader.bytes(count, PART)? })
    }

    /// The greatest symbol, before the offset.
    fn max_symbol(&self) -> u32 {
        self.symbols.iter().map(|bytes| u32::from_le_bytes(*bytes)).max().unwrap_or(0)
    }

    /// The nodes, checked: a branch has two children, which come after it and belong to no other branch.
    fn nodes(&self, offset: i32, alphabet: u32) -> Result<Vec<Node>, Defect> {
        let count = self.leaves.len();
        let mut nodes = Vec::new();
        nodes.try_reserve_exact(count).map_err(|_| Defect::OutOfMemory(count))?;
        let mut is_child = super::zeroed(count)?;
        for (index, (symbol, is_leaf)) in self.symbols.iter().zip(self.leaves).enumerate() {
            let symbol = i32::from_le_bytes(*symbol);
            let children = self.children.get(index).ok_or(Defect::Node(index))?;
            nodes.push(match (is_leaf, children, symbol) {
                (1, [0, 0], 0..) => Node::Leaf(leaf_symbol(symbol, offset, alphabet).ok_or(Defect::Node(index))?),
                (0, children, 0) => {
                    for child in children.map(|child| child as usize) {
                        let seen = is_child.get_mut(child).filter(|_| child > index).ok_or(Defect::Node(index))?;
                        if std::mem::replace(seen, 1) != 0 {
                            return Err(Defect::Node(index));
                        }
                    }
                    Node::Branch(children)
                }
                _ => return Err(Defect::Node(index)),
            });
        }
        match is_child.iter().skip(1).position(|&seen| seen == 0) {
            None => Ok(nodes),
            Some(before) => Err(Defect::Node(before + 1)),
        }
    }
}

impl Children<'_> {
    fn get(&self, index: usize) -> Option<[u32; 2]> {
        Some(match self {
            Self::Bytes([zeros, ones]) => [zeros.get(index)?, ones.get(index)?].map(|&[byte]| byte.into()),
            Self::Words([zeros, ones]) => {
                [zeros.get(index)?, ones.get(index)?].map(|&word| u16::from_le_bytes(word).into())
            }
            Self::Longs([zeros, ones]) => [zeros.get(index)?, ones.get(index)?].map(|&long| u32::from_le_bytes(long)),
        })
    }
}

fn leaf_symbol(symbol: i32, offset: i32, alphabet: u32) -> Option<u32> {
    let symbol = u32::try_from(symbol.checked_add(offset)?).ok()?;
    (symbol < alphabet).then_some(symbol)
}

/// Decodes a stream of code words to symbols.
pub(super) struct Symbols<'a> {
    code: Code,
    bits: Bits<'a>,
}

impl<'a> Symbols<'a> {
    /// Reads the length of the stream, and takes that many bytes.
    pub(super) fn parse(reader: &mut Reader<'a>, code: Code) -> Result<Self, Defect> {
        const PART: &str = "symbols";
        let len = reader.u64(PART)?;
        Ok(Self { code, bits: Bits::new(reader.bytes(len, PART)?) })
    }

    /// The next symbol.
    #[inline]
    pub(super) fn next(&mut self) -> Result<u32, Defect> {
        if self.bits.count < MAX_TABLE_BITS {
            self.bits.refill();
        }
        let prefix = self.bits.peek(self.code.table_bits);
        let entry = self.code.table.get(prefix).ok_or(Defect::Symbols)?;
        self.bits.skip(entry.bits)?;
        match entry.node {
            Node::Leaf(symbol) => Ok(symbol),
            Node::Branch(children) => self.descend(children),
        }
    }

    /// Goes down the tree from the node where the table ended.
    #[cold]
    fn descend(&mut self, mut children: [u32; 2]) -> Result<u32, Defect> {
        loop {
            let [zero, one] = children;
            let child = if self.bits.next()? { one } else { zero };
            match self.code.nodes.get(child as usize).ok_or(Defect::Symbols)? {
                Node::Leaf(symbol) => return Ok(*symbol),
                Node::Branch(next) => children = *next,
            }
        }
    }

    /// Checks that nothing is left but the zeros that fill the last byte.
    pub(super) fn finish(&mut self) -> Result<(), Defect> {
        let left = self.bits.rest.len() as u64 + u64::from(self.bits.count / 8);
        if left != 0 {
            return Err(Defect::Surplus("symbols", left));
        }
        if self.bits.window != 0 { Err(Defect::Field("padding of symbols", self.bits.window)) } else { Ok(()) }
    }
}

/// Reads bits, most significant first.
struct Bits<'a> {
    /// The next bits, from the top. Below the first `count` are zeros, or bits that `rest` has too.
    window: u64,
    count: u32,
    rest: &'a [u8],
}

impl<'a> Bits<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { window: 0, count: 0, rest: bytes }
    }

    /// Takes bytes until the window holds 56 bits, or until there are no more. Before, it must hold less than 56.
    ///
    /// Eight bytes come in at once, by an OR, and `rest` advances by those that fit whole. The bits of the others come again
    /// with the next refill, which puts them at the same place.
    #[inline]
    fn refill(&mut self) {
        if let Some(next) = self.rest.first_chunk() {
            self.window |= u64::from_be_bytes(*next) >> self.count;
            let taken = (63 - self.count) / 8;
            self.rest = self.rest.get(taken as usize..).unwrap_or_default();
            self.count += 8 * taken;
        } else {
            self.refill_slowly();
        }
    }

    #[cold]
    fn refill_slowly(&mut self) {
        while self.count < 56
            && let Some((&byte, rest)) = self.rest.split_first()
        {
            self.window |= u64::from(byte) << (56 - self.count);
            self.count += 8;
            self.rest = rest;
        }
    }

    /// The next `count` bits, 1 to 31, with zeros after the end.
    #[inline]
    #[allow(clippy::cast_possible_truncation, reason = "31 bits fit")]
    const fn peek(&self, count: u32) -> usize {
        (self.window >> (64 - count)) as usize
    }

    /// Drops `count` bits, less than 64, which must be present.
    #[inline]
    const fn skip(&mut self, count: u32) -> Result<(), Defect> {
        if count > self.count {
            return Err(Defect::Symbols);
        }
        self.window <<= count;
        self.count -= count;
        Ok(())
    }

    fn next(&mut self) -> Result<bool, Defect> {
        if self.count == 0 {
            self.refill();
        }
        let bit = self.peek(1) == 1;
        self.skip(1)?;
        Ok(bit)
    }
}
