//! Finds what can be changed in a file: operators, conditions of `match`, and whole bodies of functions.

use std::ops::Range;

use proc_macro2::Span;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Arm, Attribute, BinOp, Block, Expr, ExprBinary, ExprMatch, ExprUnary, Pat, Signature, Type, UnOp};

use crate::operators::others;
use crate::values::values_of;

/// One change of a function.
pub struct Change {
    /// The bytes of the file that are replaced.
    pub range: Range<usize>,
    /// What they are replaced by.
    pub text: String,
    /// What a reader sees: `old → new`. Two changes of one function may say the same.
    pub what: String,
}

/// A function, and all that can be changed in it.
pub struct Function {
    /// Its name, after that of its type.
    pub name: String,
    /// The bytes of its body, with the braces.
    pub body: Range<usize>,
    /// Whether it returns `impl Trait`.
    pub returns_hidden_type: bool,
    /// Changes of the body.
    pub changes: Vec<Change>,
}

/// The functions of a file that can be changed. Left out are tests, constants, macros, implementations of `Debug`, and functions
/// with `unsafe` code, whose changes could do anything.
pub fn functions(text: &str, file: &syn::File) -> Vec<Function> {
    let mut finder = Finder { text, owner: None, functions: Vec::new(), depth: 0 };
    finder.visit_file(file);
    finder.functions.retain(|function| !function.changes.is_empty());
    finder.functions
}

/// Whether an item is compiled for tests only, or not at all, as every feature is on.
pub fn is_left_out(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_condition =
            |name: &str| attribute.parse_args::<syn::Meta>().is_ok_and(|meta| meta.path().is_ident(name));
        let is_cfg = attribute.path().is_ident("cfg");
        attribute.path().is_ident("test") || is_cfg && (is_condition("test") || is_condition("not"))
    })
}

/// A walk over one file.
struct Finder<'t> {
    text: &'t str,
    /// The type or trait whose functions are walked over.
    owner: Option<String>,
    functions: Vec<Function>,
    /// How many functions surround this place. Changes of an inner function are changes of the outer one.
    depth: usize,
}

impl Finder<'_> {
    /// The text of a part of the file.
    fn source(&self, span: Span) -> &str {
        self.text.get(span.byte_range()).unwrap_or_default()
    }

    /// The text of a part of the file as one line.
    fn line_of(&self, span: Span) -> String {
        self.source(span).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn add(&mut self, span: Span, text: String, what: String) {
        if let Some(function) = self.functions.last_mut().filter(|_| self.depth > 0) {
            function.changes.push(Change { range: span.byte_range(), text, what });
        }
    }

    /// Whether the function returns `impl Trait`.
    fn is_in_place(&self) -> bool {
        self.functions.last().is_some_and(|function| function.returns_hidden_type)
    }

    fn walk_function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if is_left_out(attributes) || self.depth == 0 && has_unsafe_code(signature, block) {
            return;
        }
        let name = signature.ident.to_string();
        let inner = if self.depth > 0 { format!("{name}: ") } else { String::new() };
        if self.depth == 0 {
            let name = self.owner.as_ref().map_or_else(|| name.clone(), |owner| format!("{owner}::{name}"));
            self.functions.push(Function {
                name,
                body: block.span().byte_range(),
                returns_hidden_type: returns_hidden_type(signature),
                changes: Vec::new(),
            });
        }
        self.depth += 1;
        let old = self.line_of(block.span());
        // Only expressions of a hidden type are changed.
        let values = if self.is_in_place() { Vec::new() } else { values_of(&signature.output) };
        for value in values {
            let is_the_same = old == format!("{{ {value} }}") || old == "{}" && value == "()";
            // A default of the function `default` would call itself.
            let is_endless = name == "default" && value == "Default::default()";
            if !is_the_same && !is_endless {
                self.add(block.span(), format!("{{ {value} }}"), format!("{inner}body → {value}"));
            }
        }
        self.visit_block(block);
        self.depth -= 1;
    }

    fn walk_owner(&mut self, owner: String, walk: impl FnOnce(&mut Self)) {
        let outer = self.owner.replace(owner);
        walk(self);
        self.owner = outer;
    }

    /// An operand's text, in parentheses unless it binds more tightly than any operator.
    fn operand(&self, operand: &Expr) -> String {
        let text = self.source(operand.span());
        match operand {
            Expr::Path(_)
            | Expr::Lit(_)
            | Expr::MethodCall(_)
            | Expr::Call(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Paren(_) => text.to_owned(),
            _ => format!("({text})"),
        }
    }
}

/// The last letters of a text, or the first, where it is long.
fn shortened(text: &str, from_end: bool) -> String {
    const LONG: usize = 40;
    let count = text.chars().count();
    if count <= LONG {
        return text.to_owned();
    }
    if from_end {
        format!("…{}", text.chars().skip(count - LONG).collect::<String>())
    } else {
        format!("{}…", text.chars().take(LONG).collect::<String>())
    }
}

/// Whether a function returns `impl Trait`.
fn returns_hidden_type(signature: &Signature) -> bool {
    struct Hidden(bool);
    impl Visit<'_> for Hidden {
        fn visit_type_impl_trait(&mut self, _: &syn::TypeImplTrait) {
            self.0 = true;
        }
    }
    let mut hidden = Hidden(false);
    hidden.visit_return_type(&signature.output);
    hidden.0
}

/// Whether a function is `unsafe`, or has code that is.
fn has_unsafe_code(signature: &Signature, block: &Block) -> bool {
    struct Unsafe(bool);
    impl Visit<'_> for Unsafe {
        fn visit_expr_unsafe(&mut self, _: &syn::ExprUnsafe) {
            self.0 = true;
        }
    }
    let mut code = Unsafe(signature.unsafety.is_some());
    code.visit_block(block);
    code.0
}

/// Whether an operand is a pattern's condition: `&&` between these is not an operator.
fn is_let(operand: &Expr) -> bool {
    match operand {
        Expr::Let(_) => true,
        Expr::Binary(ExprBinary { left, op: BinOp::And(_), right, .. }) => is_let(left) || is_let(right),
        _ => false,
    }
}

/// The name of a type, without its parameters.
fn name_of(kind: &Type) -> Option<String> {
    match kind {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Type::Reference(inner) => name_of(&inner.elem).map(|name| format!("&{name}")),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_left_out(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let of = block.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        if is_left_out(&block.attrs) || of.is_some_and(|of| of.ident == "Debug") {
            return;
        }
        let name = name_of(&block.self_ty).unwrap_or_else(|| self.line_of(block.self_ty.span()));
        let owner = of.map_or_else(|| name.clone(), |of| format!("{name} as {}", self.line_of(of.span())));
        self.walk_owner(owner, |finder| visit::visit_item_impl(finder, block));
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.walk_owner(item.ident.to_string(), |finder| visit::visit_item_trait(finder, item));
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.walk_function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.walk_function(&function.attrs, &function.sig, &function.block);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.walk_function(&function.attrs, &function.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast ExprBinary) {
        if !is_let(&binary.left) && !is_let(&binary.right) {
            let (left, right) = (self.operand(&binary.left), self.operand(&binary.right));
            let before = shortened(&self.line_of(binary.left.span()), true);
            let after = shortened(&self.line_of(binary.right.span()), false);
            let old = self.line_of(binary.op.span());
            for new in others(&binary.op) {
                let what = format!("{before} {old} {after} → {new}");
                self.add(binary.span(), format!("({left} {new} {right})"), what);
            }
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast ExprUnary) {
        if let UnOp::Not(_) | UnOp::Neg(_) = unary.op {
            let operand = self.operand(&unary.expr);
            let old = shortened(&self.line_of(unary.span()), false);
            self.add(unary.span(), operand, format!("{old} → without {}", self.source(unary.op.span())));
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, choice: &'ast ExprMatch) {
        let is_wildcard = |arm: &Arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none();
        let has_wildcard = choice.arms.iter().any(is_wildcard);
        for arm in &choice.arms {
            let pattern = shortened(&self.line_of(arm.pat.span()), false);
            if has_wildcard && !is_wildcard(arm) && !self.is_in_place() {
                self.add(arm.span(), String::new(), format!("arm {pattern} → removed"));
            }
            if let Some((_, guard)) = &arm.guard {
                let condition = shortened(&self.line_of(guard.span()), false);
                for new in ["true", "false"] {
                    self.add(guard.span(), new.to_owned(), format!("{pattern} if {condition} → {new}"));
                }
            }
        }
        visit::visit_expr_match(self, choice);
    }

    // The compiler evaluates these.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_expr_repeat(&mut self, repeated: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeated.expr);
    }
}
