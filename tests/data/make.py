#!/usr/bin/env python3
"""Makes the matrix files of this folder: with NumPy and SciPy where they can write them, by hand where not.

    python3 tests/data/make.py

The files are kept in the repository: the tests need no Python. Every value is a known function of its row i
and column j, both from 0; tests/formats/expected.c has these functions. NumPy 1.24 and SciPy 1.10 wrote the
files; other versions may write other text, with equal values.
"""

import gzip
import io
import pathlib
import struct
import zipfile

import numpy as np
import scipy.io
import scipy.sparse

HERE = pathlib.Path(__file__).resolve().parent


# --- the values ---


def real(i, j):
    return ((7 * i + 3 * j) % 11 - 4) / 4


def whole(i, j):
    return (7 * i + 3 * j) % 11 - 4


def count(i, j):
    return (7 * i + 3 * j) % 11


def bit(i, j):
    return (i + j) % 2


def complex_(i, j):
    return complex(real(i, j), ((i + 2 * j) % 5 - 2) / 2)


def sparse(function):
    """Zero but for every third element."""
    return lambda i, j: function(i, j) if (i + 2 * j) % 3 == 0 else 0


def one(i, j):
    return 1


def symmetric(function):
    return lambda i, j: function(max(i, j), min(i, j))


def skew(function):
    return lambda i, j: 0 if i == j else function(i, j) if i > j else -function(j, i)


def hermitian(function):
    def value(i, j):
        if i == j:
            return complex(function(i, j).real, 0)
        return complex(function(i, j)) if i > j else complex(function(j, i)).conjugate()

    return value


def matrix(function, rows, cols, dtype):
    return np.array([[function(i, j) for j in range(cols)]
                     for i in range(rows)]).reshape(rows, cols).astype(dtype)


# --- writing ---


def write(name, data):
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def npy(array, version=(1, 0)):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=version)
    return out.getvalue()


def npy_by_hand(header, data=b"", version=1, length=None):
    """A .npy whose header is any text."""
    text = header.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(text) if length is None else length)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text + data


def mtx(value, **options):
    out = io.BytesIO()
    scipy.io.mmwrite(out, value, **options)
    return out.getvalue()


def lines(function, rows, cols, separator, form="%.17g", end="\n"):
    return "".join(separator.join(form % function(i, j) for j in range(cols)) + end for i in range(rows))


# --- the files that are right ---


def good_npy():
    rows, cols = 5, 7
    kinds = {
        "f2": real, "f4": real, "f8": real, "i1": whole, "i2": whole, "i4": whole, "i8": whole,
        "u1": count, "u2": count, "u4": count, "u8": count, "c8": complex_, "c16": complex_,
    }  # fmt: skip
    for name, function in kinds.items():
        write(f"npy/{name}.npy", npy(matrix(function, rows, cols, "<" + name)))
        if name not in ("i1", "u1"):
            write(f"npy/{name}_big.npy", npy(matrix(function, rows, cols, ">" + name)))
    write("npy/b1.npy", npy(matrix(bit, rows, cols, "bool")))

    write("npy/f8_fortran.npy", npy(np.asfortranarray(matrix(real, rows, cols, "<f8"))))
    write("npy/f4_big_fortran.npy", npy(np.asfortranarray(matrix(real, rows, cols, ">f4"))))
    write("npy/c16_fortran.npy", npy(np.asfortranarray(matrix(complex_, rows, cols, "<c16"))))
    write("npy/i2_fortran.npy", npy(np.asfortranarray(matrix(whole, rows, cols, "<i2"))))

    write("npy/version2.npy", npy(matrix(real, rows, cols, "<f8"), version=(2, 0)))
    write("npy/version3.npy", npy(matrix(real, rows, cols, "<f8"), version=(3, 0)))
    write("npy/one_dimension.npy", npy(matrix(real, 9, 1, "<f4").reshape(9)))
    write("npy/no_dimension.npy", npy(np.array(real(0, 0), dtype="<f8")))
    write("npy/empty_rows.npy", npy(np.zeros((0, 3), dtype="<f8")))
    write("npy/empty_cols.npy", npy(np.zeros((3, 0), dtype="<f4")))
    write("npy/empty_one_dimension.npy", npy(np.zeros(0, dtype="<f8")))
    data = matrix(real, 2, 3, "<f8").tobytes()
    write("npy/order_of_keys.npy", npy_by_hand('{"shape":(2,3),"fortran_order":False,"descr":"<f8"}', data))
    write("npy/many_blanks.npy",
          npy_by_hand("  {\n 'descr' :\t'f8' ,\r\n 'fortran_order' : False, 'shape' : ( 2L , 3L , ) , } \n\n",
                      data))
    write("npy/named_wrongly.dat", npy(matrix(real, rows, cols, "<f8")))
    special = np.array([[np.inf, -np.inf, np.nan], [0.0, -0.0, 5e-324]])
    write("npy/special.npy", npy(special))


def good_mtx():
    rows, cols = 6, 4
    write("mtx/array_real.mtx", mtx(matrix(real, rows, cols, "f8")))
    write("mtx/array_integer.mtx", mtx(matrix(whole, rows, cols, "i4")))
    unsigned = mtx(matrix(count, rows, cols, "u4")).replace(b" integer ", b" unsigned-integer ")
    write("mtx/array_unsigned.mtx", unsigned)
    write("mtx/array_complex.mtx", mtx(matrix(complex_, rows, cols, "c16")))
    coordinate = {
        "real": (sparse(real), "f8"), "integer": (sparse(whole), "i4"), "complex": (sparse(complex_), "c16")
    }  # fmt: skip
    for name, (function, dtype) in coordinate.items():
        write(f"mtx/coordinate_{name}.mtx", mtx(scipy.sparse.coo_matrix(matrix(function, rows, cols, dtype))))
    write("mtx/coordinate_pattern.mtx",
          mtx(scipy.sparse.coo_matrix(matrix(sparse(one), rows, cols, "f8")), field="pattern"))

    n = 5
    square = {
        "symmetric_real": (symmetric, real, "f8", "symmetric"),
        "symmetric_integer": (symmetric, whole, "i4", "symmetric"),
        "symmetric_complex": (symmetric, complex_, "c16", "symmetric"),
        "skew_real": (skew, real, "f8", "skew-symmetric"),
        "skew_complex": (skew, complex_, "c16", "skew-symmetric"),
        "hermitian_complex": (hermitian, complex_, "c16", "hermitian"),
    }
    for name, (shape, function, dtype, symmetry) in square.items():
        write(f"mtx/array_{name}.mtx", mtx(matrix(shape(function), n, n, dtype), symmetry=symmetry))
        values = matrix(shape(sparse(function)), n, n, dtype)
        write(f"mtx/coordinate_{name}.mtx", mtx(scipy.sparse.coo_matrix(values), symmetry=symmetry))
    write("mtx/coordinate_symmetric_pattern.mtx",
          mtx(scipy.sparse.coo_matrix(matrix(symmetric(sparse(one)), n, n, "f8")), symmetry="symmetric",
              field="pattern"))

    # SciPy 1.10 writes the diagonal here too, which the format leaves out and SciPy itself cannot read.
    value = skew(complex_)
    write("mtx/array_skew_complex.mtx",
          f"%%MatrixMarket matrix array complex skew-symmetric\n{n} {n}\n"
          + "".join(f"{value(i, j).real} {value(i, j).imag}\n" for j in range(n) for i in range(j + 1, n)))
    write("mtx/by_hand.mtx",
          "%%matrixmarket MATRIX Array REAL General\r\n% a comment\r\n\r\n  % and another\r\n 2\t3 \r\n\r\n"
          + "".join(f"  {real(i, j) * 100:+.3f}D-2\t\r\n" for j in range(3) for i in range(2)) + "\r\n\r\n")
    # Each entry in two parts; one in the upper triangle of a symmetric matrix stands for both.
    write("mtx/duplicates.mtx",
          "%%MatrixMarket matrix coordinate real general\n2 3 12\n"
          + "".join(f"{i + 1} {j + 1} {part}\n" for j in range(3) for i in range(2)
                    for part in (real(i, j) - 1, 1)))
    write("mtx/empty_array.mtx", "%%MatrixMarket matrix array real general\n0 3\n")
    write("mtx/empty_coordinate.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 0\n")


def good_csv():
    rows, cols = 4, 3
    out = io.StringIO()
    np.savetxt(out, matrix(real, rows, cols, "f8"), delimiter=",")
    write("csv/numpy.csv", out.getvalue())
    write("csv/comma.csv", lines(real, rows, cols, ","))
    write("csv/semicolon.csv", lines(real, rows, cols, ";"))
    write("csv/tab.tsv", lines(real, rows, cols, "\t"))
    write("csv/blanks_around.csv", lines(real, rows, cols, " , ", form="  %.17g  "))
    write("csv/crlf.csv", lines(real, rows, cols, ",", end="\r\n"))
    write("csv/header.csv", "a,b 2,c\n" + lines(real, rows, cols, ","))
    write("csv/header_quoted.csv", '"a, ""b""","two\nlines",y2020\r\n'
          + lines(real, rows, cols, ",", end="\r\n"))
    write("csv/quoted.csv", lines(real, rows, cols, ",", form='"%.17g"'))
    write("csv/byte_order_mark.csv", b"\xef\xbb\xbf" + lines(real, rows, cols, ",").encode())
    write("csv/no_last_line_end.csv", lines(real, rows, cols, ",")[:-1])
    write("csv/blank_lines_at_end.csv", lines(real, rows, cols, ",") + "\n  \n\r\n\n")
    write("csv/decimal_comma.csv", lines(real, rows, cols, ";").replace(".", ","))
    write("csv/one_column.csv", lines(real, 9, 1, ","))
    write("csv/one_row.csv", lines(real, 1, 9, ","))
    write("csv/exponents.csv", lines(real, rows, cols, ",", form="%+.3E"))
    write("csv/special.csv", "inf,-Inf,NaN\n0,-0,5e-324\n")
    write("csv/named_wrongly.dat", lines(real, rows, cols, ","))


def good_txt():
    rows, cols = 4, 3
    write("txt/plain.txt", f"{rows} {cols}\n" + lines(real, rows, cols, " "))
    write("txt/crlf.txt", f"{rows} {cols}\r\n" + lines(real, rows, cols, "\t", end=" \r\n"))
    write("txt/any_lines.txt", f"\n {rows}\t{cols}\n\n" + lines(real, rows, cols, "\n\n", end="  ").strip())
    write("txt/fortran.txt", f"{rows} {cols}\n" + lines(real, rows, cols, " ", form="%.6E").replace("E", "D"))
    write("txt/empty.txt", "0 5\n")
    write("txt/special.txt", "2 3\ninf -Infinity nan\n0 -0 5e-324\n")
    write("txt/named_wrongly.dat", f"{rows} {cols}\n" + lines(real, rows, cols, " "))


def pack(data):
    return gzip.compress(data if isinstance(data, bytes) else data.encode(), mtime=0)


def npz(names_and_data, method=zipfile.ZIP_STORED):
    """As np.savez writes it, but for the date."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in names_and_data.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            with archive.open(info, "w", force_zip64=True) as file:
                file.write(data)
    return out.getvalue()


def good_packed():
    f8 = npy(matrix(real, 5, 7, "<f8"))
    csv = lines(real, 4, 3, ",")
    write("packed/f8.npy.gz", pack(f8))
    write("packed/f8_fortran.NPY.GZ", pack(npy(np.asfortranarray(matrix(real, 5, 7, "<f8")))))
    write("packed/named_plainly.npy", pack(f8))
    write("packed/comma.csv.gz", pack(csv))
    write("packed/members.csv.gz", pack(csv[:10]) + pack("") + pack(csv[10:]) + b"\0\0\0")
    write("packed/coordinate_hermitian_complex.mtx.gz",
          pack((HERE / "mtx/coordinate_hermitian_complex.mtx").read_bytes()))
    write("packed/plain.txt.gz", pack("4 3\n" + lines(real, 4, 3, " ")))
    write("packed/nameless.gz", pack("4 3\n" + lines(real, 4, 3, " ")))
    write("packed/stored.npz", npz({"arr_0.npy": f8}))
    write("packed/deflated.npz", npz({"a.npy": f8}, zipfile.ZIP_DEFLATED))


def bad_packed():
    f8 = npy(matrix(real, 5, 7, "<f8"))
    good = pack(lines(real, 4, 3, ","))
    write("bad/truncated.csv.gz", good[:-12])
    write("bad/check.csv.gz", good[:-6] + bytes([good[-6] ^ 1]) + good[-5:])
    write("bad/behind.csv.gz", good + b"more")
    write("bad/block.csv.gz", good[:10] + b"\x07" + good[11:])
    write("bad/two_arrays.npz", npz({"a.npy": f8, "b.npy": f8}))
    write("bad/no_arrays.npz", npz({}))
    write("bad/cut.npz", npz({"a.npy": f8})[:-1])
    write("bad/cut_early.npz", b"PK\3\4")
    deflated = npz({"a.npy": f8}, zipfile.ZIP_DEFLATED)
    check = struct.pack("<I", zipfile.ZipFile(io.BytesIO(deflated)).infolist()[0].CRC)
    write("bad/check.npz", deflated.replace(check, b"\1\2\3\4"))
    stored = npz({"a.npy": f8})
    write("bad/check_stored.npz", stored.replace(f8[-8:], b"\0\0\0\0\0\0\1\0"))
    write("bad/text.npz", npz({"a.csv": b"1,2\n3,4\n"}))
    place = deflated.rfind(b"PK\1\2")
    write("bad/place.npz", deflated[:place + 42] + b"\1" + deflated[place + 43:])
    write("bad/method.npz", npz({"a.npy": f8}, zipfile.ZIP_LZMA))


# --- the files that are wrong, each in one way ---


def bad_npy():
    good = npy(matrix(real, 3, 4, "<f8"))
    data = matrix(real, 3, 4, "<f8").tobytes()

    def header(descr="'<f8'", order="False", shape="(3, 4)"):
        return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"

    write("bad/empty.npy", b"")
    write("bad/magic.npy", b"\x93NUMPX" + good[6:])
    write("bad/version.npy", good[:6] + b"\x04" + good[7:])
    write("bad/cut_version.npy", good[:7])
    write("bad/cut_length.npy", good[:9])
    write("bad/cut_header.npy", good[:60])
    write("bad/long_header.npy", npy_by_hand(header(), data, version=2, length=1 << 31))
    write("bad/truncated.npy", good[:-1])
    write("bad/no_values.npy", good[:-len(data)])
    write("bad/oversized.npy", good + b"\0")
    write("bad/structured.npy", npy(np.zeros(3, dtype=[("a", "<f8"), ("b", "<i4")])))
    write("bad/text.npy", npy(np.array([["ab", "c"]])))
    write("bad/object.npy", npy_by_hand(header("'|O'"), b"\x80\x04N."))
    write("bad/time.npy", npy_by_hand(header("'<M8[s]'"), data))
    write("bad/void.npy", npy_by_hand(header("'|V8'"), data))
    write("bad/long_double.npy", npy_by_hand(header("'<f16'"), data + data))
    write("bad/three_dimensions.npy", npy(np.zeros((2, 3, 4))))
    write("bad/huge_shape.npy", npy_by_hand(header(shape="(4611686018427387904, 4)"), data))
    write("bad/huge_size.npy", npy_by_hand(header(shape="(99999999999999999999, 4)"), data))
    write("bad/large_shape.npy", npy_by_hand(header(shape="(1000000, 1000000)"), data))
    write("bad/negative_shape.npy", npy_by_hand(header(shape="(-3, 4)"), data))
    write("bad/number_shape.npy", npy_by_hand(header(shape="(3)"), data))
    write("bad/list_shape.npy", npy_by_hand(header(shape="[3, 4]"), data))
    write("bad/order.npy", npy_by_hand(header(order="0"), data))
    write("bad/no_shape.npy", npy_by_hand("{'descr': '<f8', 'fortran_order': False, }", data))
    write("bad/two_shapes.npy", npy_by_hand("{'shape': (3, 4), 'shape': (3, 4)}", data))
    write("bad/unknown_key.npy", npy_by_hand("{'descr': '<f8', 'colour': 'red', 'shape': (3, 4)}", data))
    write("bad/open_dictionary.npy", npy_by_hand("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)",
                                                 data))
    write("bad/open_string.npy", npy_by_hand("{'descr", data))
    write("bad/more_header.npy", npy_by_hand(header() + "{}", data))
    write("bad/no_dictionary.npy", npy_by_hand("   ", data))
    write("bad/no_colon.npy", npy_by_hand("{'descr' '<f8'}", data))
    write("bad/no_comma.npy", npy_by_hand("{'descr': '<f8' 'shape': (3, 4)}", data))
    write("bad/large_i8.npy", npy(np.array([[1, 2], [3, (1 << 53) + 1]], dtype="<i8")))
    write("bad/large_u8.npy", npy(np.array([[(1 << 64) - 1, 0]], dtype="<u8")))


def bad_mtx():
    array = "%%MatrixMarket matrix array real general\n"
    coordinate = "%%MatrixMarket matrix coordinate real general\n"
    write("bad/empty.mtx", "")
    write("bad/banner.mtx", "%%MatrixMarkt matrix array real general\n1 1\n1\n")
    write("bad/vector.mtx", "%%MatrixMarket vector array real general\n1 1\n1\n")
    write("bad/format.mtx", "%%MatrixMarket matrix dense real general\n1 1\n1\n")
    write("bad/field.mtx", "%%MatrixMarket matrix array quaternion general\n1 1\n1\n")
    write("bad/symmetry.mtx", "%%MatrixMarket matrix array real lopsided\n1 1\n1\n")
    write("bad/short_banner.mtx", "%%MatrixMarket matrix array\n1 1\n1\n")
    write("bad/long_banner.mtx", "%%MatrixMarket matrix array real general indeed\n1 1\n1\n")
    write("bad/array_pattern.mtx", "%%MatrixMarket matrix array pattern general\n1 1\n")
    write("bad/skew_pattern.mtx", "%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n")
    write("bad/no_shape.mtx", array + "% nothing more\n")
    write("bad/shape_words.mtx", array + "two 2\n")
    write("bad/shape_short.mtx", coordinate + "2 2\n1 1 5\n")
    write("bad/shape_long.mtx", array + "2 2 4\n1\n2\n3\n4\n")
    write("bad/negative_shape.mtx", array + "-2 2\n1\n2\n3\n4\n")
    write("bad/huge_shape.mtx", coordinate + "4611686018427387904 4611686018427387904 1\n1 1 1\n")
    write("bad/large_shape.mtx", array + "1000000 1000000\n1\n")
    write("bad/large_entries.mtx", coordinate + "2 2 1000000000000\n1 1 1\n")
    write("bad/not_square.mtx", "%%MatrixMarket matrix array real symmetric\n2 3\n1\n2\n3\n")
    write("bad/truncated.mtx", array + "2 2\n1.000\n2\n3\n")
    write("bad/oversized.mtx", array + "2 2\n1\n2\n3\n4\n5\n")
    write("bad/non_numeric.mtx", array + "2 2\n1\n2\nx3\n4\n")
    write("bad/two_values.mtx", array + "2 2\n1\n2 2.5\n3\n4\n")
    write("bad/few_entries.mtx", coordinate + "2 2 3\n1 1 1.00\n2 2 2.00\n")
    write("bad/many_entries.mtx", coordinate + "2 2 1\n1 1 1\n2 2 2\n")
    write("bad/row_zero.mtx", coordinate + "2 2 1\n0 1 1\n")
    write("bad/row_beyond.mtx", coordinate + "2 2 2\n1 1 1\n3 1 1\n")
    write("bad/column_beyond.mtx", coordinate + "2 2 1\n1 3 1\n")
    write("bad/index_word.mtx", coordinate + "2 2 1\none 1 1\n")
    write("bad/index_fraction.mtx", coordinate + "2 2 1\n1.5 1 1\n")
    write("bad/no_value.mtx", coordinate + "2 2 2\n1 1\n2 2 5\n")
    write("bad/pattern_value.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 7\n")
    write("bad/half_complex.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 1 7\n")
    write("bad/fraction.mtx", "%%MatrixMarket matrix array integer general\n1 2\n1\n1.5\n")
    integer, unsigned = (f"%%MatrixMarket matrix array {field} general\n1 2\n1\n"
                         for field in ("integer", "unsigned-integer"))
    write("bad/integer_point.mtx", integer + "1.0\n")
    write("bad/integer_exponent.mtx", integer + "1e2\n")
    write("bad/integer_tiny.mtx", integer + "1e-4006\n")
    write("bad/integer_inf.mtx", integer + "inf\n")
    write("bad/integer_beyond_f64.mtx", integer + "-9007199254740993\n")
    write("bad/integer_beyond_64.mtx", integer + "9223372036854775808\n")
    write("bad/unsigned_negative.mtx", unsigned + "-1\n")
    write("bad/unsigned_point.mtx", unsigned + "1.0\n")
    write("bad/unsigned_beyond_f64.mtx", unsigned + "18446744073709551615\n")
    write("bad/unsigned_beyond_64.mtx", unsigned + "18446744073709551616\n")
    write("bad/skew_diagonal.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 7\n")
    write("bad/hermitian_diagonal.mtx",
          "%%MatrixMarket matrix coordinate complex hermitian\n2 2 1\n1 1 7 1\n")
    write("bad/too_large.mtx", array + "1 2\n1\n1e400\n")
    write("bad/sum_too_large.mtx", coordinate + "1 1 2\n1 1 1e308\n1 1 1e308\n")


def bad_csv():
    write("bad/empty.csv", "")
    write("bad/only_blank.csv", "\n \n")
    write("bad/header_only.csv", "a,b,c\n")
    write("bad/ragged_short.csv", "1,2,3\n4,5\n6,7,8\n")
    write("bad/ragged_long.csv", "1,2,3\n4,5,6,7\n")
    write("bad/ragged_header.csv", "a,b\n1,2,3\n")
    write("bad/trailing_separator.csv", "1,2,\n4,5,\n")
    write("bad/empty_cell.csv", "1,2,3\n4,,6\n")
    write("bad/non_numeric.csv", "1,2,3\n4,5,6\n7,8,nine\n")
    write("bad/first_line_typo.csv", "1,2x,3\n4,5,6\n")
    write("bad/first_line_missing.csv", "1,NA,3\n4,5,6\n")
    write("bad/first_line_letter.csv", "1,O,3\n4,5,6\n")
    write("bad/first_line_names.csv", "x,2020,y\n4,5,6\n")
    write("bad/first_line_large.csv", "x,1e999,y\n4,5,6\n")
    write("bad/complex.csv", "1,2\n3,-1.5e3-2.5e-1i\n")
    write("bad/complex_first.csv", "1+2i,3\n4,5\n")
    write("bad/blank_line.csv", "1,2\n\n3,4\n")
    write("bad/decimal_comma.csv", "1,5\t2,5\n3,5\t4,5\n")
    write("bad/both_marks.csv", "1,5;2,5\n1.234;2,5\n")
    write("bad/open_quote.csv", '1,2\n"3,4\n5,6\n')
    write("bad/after_quote.csv", '1,2\n"3"x,4\n')
    write("bad/utf16.csv", "1,2\n3,4\n".encode("utf-16"))
    write("bad/binary.csv", b"1,2\n3,\0\x01\x02\n")
    write("bad/blanks_between.csv", "1 2 3\n4 5 6\n")
    write("bad/too_large.csv", "1,2\n3,-1e999\n")
    write("bad/hexadecimal.csv", "1,2\n3,0x10\n")


def bad_txt():
    write("bad/empty.txt", "")
    write("bad/no_shape.txt", "a b\n1 2\n")
    write("bad/one_size.txt", "2\n1 2\n")
    write("bad/three_sizes.txt", "2 2 2\n1 2 3 4\n")
    write("bad/negative.txt", "-2 2\n1 2 3 4\n")
    write("bad/fraction_shape.txt", "2.0 2\n1 2 3 4\n")
    write("bad/huge_shape.txt", "99999999999999999999 2\n1 2\n")
    write("bad/large_shape.txt", "3000000000 4000000000\n1 2 3\n")
    write("bad/truncated.txt", "2 2\n1.0 2.0 3.0\n")
    write("bad/oversized.txt", "2 2\n1 2\n3 4\n5\n")
    write("bad/non_numeric.txt", "2 2\n1 2\n3 four\n")
    write("bad/commas.txt", "2 2\n1,2\n3,4\n")
    write("bad/complex.txt", "1 2\n1 2j\n")
    write("bad/long_word.txt", "1 1\n" + "1" * 17000 + "\n")


def main():
    good_npy()
    good_mtx()
    good_csv()
    good_packed()
    good_txt()
    bad_npy()
    bad_mtx()
    bad_csv()
    bad_packed()
    bad_txt()
    write("bad/unknown.dat", "neither one nor the other\n")


if __name__ == "__main__":
    main()
